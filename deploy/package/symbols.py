#!/usr/bin/python3
"""Whether programs and libraries run with the C and C++ libraries of the oldest target.

usage: symbols.py --glibc=2.34 --glibcxx=3.4.30 FILE...

Prints each file that needs a newer symbol, and which; exit status 1 then.
"""

import argparse
import re
import subprocess
import sys

FAMILIES = {"GLIBC": "glibc", "GLIBCXX": "glibcxx"}


def number(text):
    return tuple(int(part) for part in text.split("."))


def newer_symbols(listing, limits):
    """Of `objdump -T`: (symbol, version) of what is undefined here and newer than allowed."""
    found = []
    for line in listing.splitlines():
        match = re.search(r"\*UND\*.*\((GLIBC|GLIBCXX)_([\d.]+)\)\s+(\S+)$", line)
        if match and number(match.group(2)) > limits[match.group(1)]:
            found.append((match.group(3), f"{match.group(1)}_{match.group(2)}"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for flag in FAMILIES.values():
        parser.add_argument(f"--{flag}", required=True, type=number)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    limits = {family: getattr(arguments, flag) for family, flag in FAMILIES.items()}
    failed = False
    for path in arguments.files:
        listing = subprocess.run(
            ["objdump", "-T", path], capture_output=True, text=True, check=True
        ).stdout
        for symbol, version in newer_symbols(listing, limits):
            print(f"{path}: {symbol} needs {version}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
