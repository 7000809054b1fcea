#!/usr/bin/python3
"""Checks that clang-format would change no file.

usage: format.py ROOT      (mend with: clang-format-19 -i FILE...)
"""

import subprocess
import sys

import repository


def unformatted(root, paths):
    """What clang-format says of these files; empty when all are well."""
    if not paths:
        return ""
    run = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *paths],
                         cwd=root, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stderr + run.stdout


def main():
    root = sys.argv[1]
    paths = repository.cpp_files(root)
    said = unformatted(root, paths)
    if said:
        print(said)
        names = {line.split(":")[0] for line in said.splitlines() if "-Wclang-format" in line}
        print("mend with: clang-format-19 -i " + " ".join(sorted(names)))
        return 1
    print(f"{len(paths)} files are formatted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
