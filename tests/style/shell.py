#!/usr/bin/python3
"""Runs shellcheck over every shell script of the repository.

usage: shell.py ROOT
"""

import subprocess
import sys

import repository


def main():
    root = sys.argv[1]
    paths = repository.shell_scripts(root)
    run = subprocess.run(["shellcheck", "--external-sources", "--source-path=SCRIPTDIR", *paths],
                         cwd=root, check=False)
    if run.returncode == 0:
        print(f"{len(paths)} scripts are clean")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
