#!/usr/bin/python3
"""The configuration reference, made from what the programs say of themselves.

usage: configuration.py BIN REFERENCE [--rewrite]

Asks every program in BIN, and every one of its subcommands, for --help and
compares what comes of it with REFERENCE, so that a flag that was added, renamed
or changed cannot stay undocumented. --rewrite writes the file anew, and fails
if that changed anything: a reference that was wrong is looked at, not waved
through.
"""

import difflib
import os
import sys

import flags

PROGRAMS = ("rapideye-coordinator", "rapideye-agent", "rapideye")

INTRODUCTION = """\
# Configuration

Made from `--help` by `tests/docs/configuration.py`, which a test runs: do not edit.

- A flag is written `--flag=value`. Each can be given as the environment variable beside it, which is
  what a container sets, unless none stands there; the command line wins over the environment, and an empty variable counts as
  unset. Of a flag given twice the last one counts, unless it is repeatable; a variable holds several
  values separated by commas.
- A `DURATION` is a number with a unit, or several: `500ms`, `5s`, `2m`, `1h30m`.
- A switch is on by its name alone, or by `--name=true|false`; its variable takes `1`, `true`, `yes`,
  `on` and their opposites.
- Exit status: 0 success, 1 the program's work failed, 2 wrong use or bad input. SIGTERM ends each
  program cleanly within 5 s. Logs go to standard error.
"""


def cell(text):
    return text.replace("|", "\\|") or " "


def table(listed):
    lines = ["| flag | variable | default | meaning |", "|---|---|---|---|"]
    for flag in listed:
        name = f"--{flag.name}" + (f"={flag.kind}" if flag.kind else "")
        default = f"`{cell(flag.default)}`" if flag.default else ""
        meaning = flag.meaning + (" (repeatable)" if flag.repeatable else "")
        variable = f"`{flag.variable}`" if flag.variable else ""
        lines.append(f"| `{cell(name)}` | {variable} | {default} | {cell(meaning)} |")
    return lines


def reference(directory):
    lines = [INTRODUCTION]
    for program in PROGRAMS:
        for command in flags.commands(os.path.join(directory, program)):
            lines += ["#" * min(2 + len(command.path), 3) + " " + " ".join([program, *command.path]),
                      "", command.summary, ""]
            if command.flags:
                lines += [*table(command.flags), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    directory, path = sys.argv[1:3]
    made = reference(directory)
    try:
        with open(path, encoding="utf-8") as file:
            stored = file.read()
    except FileNotFoundError:
        stored = ""
    if made == stored:
        print(f"{path} says what the programs say")
        return 0
    if "--rewrite" in sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
        print(f"{path} was written anew: read the difference, then commit it")
        return 1
    sys.stdout.writelines(difflib.unified_diff(
        stored.splitlines(True), made.splitlines(True), path, "what --help says"))
    print(f"to accept: {sys.argv[0]} {directory} {path} --rewrite")
    return 1


if __name__ == "__main__":
    sys.exit(main())
