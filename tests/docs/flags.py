"""What a program of ours says of itself in --help, as data."""

import collections
import os
import re
import subprocess

# `kind` is what stands for the value ("DURATION"), empty for a switch without;
# `default` is empty where there is none,
# `variable` where the flag takes none.
Flag = collections.namedtuple("Flag", "name kind default variable repeatable meaning")
# `path` names the subcommand, () the program itself.
Command = collections.namedtuple("Command", "path summary flags subcommands")

FLAG = re.compile(r"^  --(?P<name>[a-z0-9-]+)(?:=(?P<kind>\S+))?\s+(?P<rest>.*)$")
REST = re.compile(r"^(?P<meaning>.*) \[(?P<repeatable>repeatable; )?"
                  r"default: (?P<default>.*); (?P<variable>RAPIDEYE_[A-Z0-9_]+|no variable)\]$")
SUBCOMMAND = re.compile(r"^  (?P<name>[a-z][a-z-]*) {2,}\S")


class HelpError(Exception):
    """Help that is not in the form that all programs share."""


def joined(text):
    """The lines of --help, each option on one of its own."""
    lines = []
    for line in text.splitlines():
        # What does not fit beside a long flag follows on a line of its own.
        if line.startswith(" " * 8) and lines:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines


def parse_flag(line):
    flag = FLAG.match(line)
    if not flag or flag["name"] in ("help", "version"):
        return None
    rest = REST.match(flag["rest"])
    if not rest:
        raise HelpError(f"no default and variable in: {line}")
    kind = flag["kind"] or ""
    choice = re.match(r"[A-Z]+:\{(.*)\}$", kind)
    if choice:
        kind = choice[1].replace(",", "|")
    default = "" if rest["default"] == "none" else rest["default"]
    variable = "" if rest["variable"] == "no variable" else rest["variable"]
    return Flag(flag["name"], kind, default, variable, bool(rest["repeatable"]),
                rest["meaning"].strip())


def parse(path, text):
    lines = joined(text)
    listed, subcommands, section = [], [], ""
    for line in lines[1:]:
        if line and not line.startswith(" "):
            section = line
        elif section == "Subcommands:" and (match := SUBCOMMAND.match(line)):
            subcommands.append(match["name"])
        elif flag := parse_flag(line):
            listed.append(flag)
    return Command(tuple(path), lines[0].strip(), listed, subcommands)


def commands(program, path=()):
    """The program and all of its subcommands, in the order in which --help lists them."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAPIDEYE_")}
    run = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=True,
                         env=environment)
    command = parse(path, run.stdout)
    found = [command]
    for name in command.subcommands:
        found += commands(program, (*path, name))
    return found
