#!/usr/bin/python3
"""Every flag that a document or an example names is one that a program has.

usage: examples.py ROOT BIN

Looks at all documents and at what lies under deploy/: at every --flag=value that
follows the name of one of our programs on the same logical line, and at every
RAPIDEYE_ variable. The examples themselves are read by what reads them in
earnest: YAML by a YAML parser, units by systemd-analyze where it is there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import flags

PROGRAMS = ("rapideye-coordinator", "rapideye-agent", "rapideye")
# Of our scripts and tests, not of the programs.
SCRIPT_VARIABLES = {"RAPIDEYE_JOBS", "RAPIDEYE_FUZZ_SECONDS", "RAPIDEYE_CERTIFICATE_DAYS",
                    "RAPIDEYE_FROZEN_OUTPUT", "RAPIDEYE_REWRITE_FROZEN",
                    "RAPIDEYE_REWRITE_GOLDENS", "RAPIDEYE_COMMIT", "RAPIDEYE_PY_SPY",
                    "RAPIDEYE_JOBSET_CRD"}
# Scripts that make packages call other programs, with flags of their own.
NO_EXAMPLES = "deploy/package/"
# What a hook is given (deploy/hooks/README.md), and what the shipped ones read besides.
HOOK_VARIABLES = {"RAPIDEYE_CALLER", "RAPIDEYE_EVENT", "RAPIDEYE_ENDED_AT", "RAPIDEYE_TEST",
                  "RAPIDEYE_INCIDENT", "RAPIDEYE_REVISION", "RAPIDEYE_CAUSE",
                  "RAPIDEYE_REMOVE_HOSTS", "RAPIDEYE_REMOVE_NODES", "RAPIDEYE_JOB_STATED_BY"}
HOOK_SETTING = re.compile(r'(?:setting|number)\("([A-Z_]+)"|environ\.get\("RAPIDEYE_HOOK_([A-Z_]+)"\)')
BUILD_OPTION = re.compile(r"^option\((RAPIDEYE_[A-Z0-9_]+)", re.MULTILINE)
CALL = re.compile(r"(?<![\w/.-])(rapideye(?:-agent|-coordinator)?)(?![\w/.-]*\.)(?=[\s`])([^`#|&]*)")


def texts(root):
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True, check=True).stdout.decode()
    for path in sorted(filter(None, listing.split("\0"))):
        if path.endswith(".md") or path.startswith("deploy/"):
            packaging = path.startswith(NO_EXAMPLES) and not path.endswith(".md")
            if os.path.isfile(os.path.join(root, path)) and not packaging:
                yield path


def hook_settings(root):
    """The variables by which the shipped hooks are configured."""
    folder = os.path.join(root, "deploy", "hooks")
    found = set()
    for name in os.listdir(folder):
        if os.path.isfile(os.path.join(folder, name)) and not name.endswith(".md"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found |= {a or b for a, b in HOOK_SETTING.findall(file.read())}
    return {f"RAPIDEYE_HOOK_{name}" for name in found}


def build_options(root):
    """The options of the build, which -D sets."""
    with open(os.path.join(root, ".cmake", "Rapideye.cmake"), encoding="utf-8") as file:
        return set(BUILD_OPTION.findall(file.read()))


def known(directory):
    """The flags of every program, and all variables."""
    by_program, variables = {}, SCRIPT_VARIABLES | HOOK_VARIABLES
    for program in PROGRAMS:
        named = {"help", "version"}
        for command in flags.commands(os.path.join(directory, program)):
            named |= {flag.name for flag in command.flags}
            variables |= {flag.variable for flag in command.flags}
        by_program[program] = named
    return by_program, variables


def unknown_names(path, text, by_program, variables):
    text = text.replace("\\\n", " ")
    for line in text.split("\n"):
        for program, rest in CALL.findall(line):
            for flag in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", rest):
                if flag not in by_program[program]:
                    yield f"{path}: {program} has no flag --{flag}: {line.strip()[:100]}"
        for variable in re.findall(r"RAPIDEYE_[A-Z0-9_]+", line):
            if variable not in variables and not variable.endswith("_"):
                yield f"{path}: no program reads {variable}"


def broken_yaml(root, paths):
    for path in paths:
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                documents = list(yaml.safe_load_all(file))
            if os.path.basename(path).startswith("rules"):
                continue  # Prometheus' own (monitoring.py)
            if not all(d.get("kind") and d.get("metadata", {}).get("name") for d in documents):
                yield f"{path}: a document without kind or name"
        except yaml.YAMLError as error:
            yield f"{path}: {error}"


def broken_units(root, paths, directory):
    """systemd's own opinion; the programs are looked for where they were built."""
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not installed: units are not verified")
        return
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            copy = os.path.join(scratch, os.path.basename(path))
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read().replace("/usr/local/bin/", os.path.abspath(directory) + "/")
            with open(copy, "w", encoding="utf-8") as file:
                file.write(text)
            run = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True,
                                 check=False)
            for line in (run.stdout + run.stderr).splitlines():
                # It also talks about units of the machine.
                if os.path.basename(path) in line:
                    yield f"{path}: {line}"


def main():
    root, directory = sys.argv[1:3]
    by_program, variables = known(directory)
    variables |= hook_settings(root) | build_options(root)
    paths = list(texts(root))
    found = []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            found += unknown_names(path, file.read(), by_program, variables)
    found += broken_yaml(root, [p for p in paths if p.endswith(".yaml")])
    found += broken_units(root, [p for p in paths if p.endswith(".service")], directory)
    print("\n".join(found) or f"{len(paths)} documents and examples name only what there is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
