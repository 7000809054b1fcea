#!/usr/bin/python3
"""What the programs need at run time is what the container image installs.

usage: runtime_packages.py BIN PACKAGES [--rewrite]

Compares PACKAGES, one Debian package a line, with the packages that own the
shared libraries of the three programs. --rewrite writes it anew and fails if
that changed anything.
"""

import os
import re
import subprocess
import sys

PROGRAMS = ("rapideye-coordinator", "rapideye-agent", "rapideye")


def libraries(program):
    """The paths of the shared libraries that the program itself asks for."""
    headers = subprocess.run(["objdump", "-p", program], capture_output=True, text=True,
                             check=True).stdout
    needed = set(re.findall(r"NEEDED\s+(\S+)", headers))
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    paths = dict(re.findall(r"^\s*(\S+) => (\S+)", loaded, re.MULTILINE))
    return {paths[name] for name in needed if name in paths}


def package_of(path):
    # A library in /lib is packaged in /usr/lib or the other way round.
    for candidate in (path, os.path.realpath(path), "/usr" + path, path.removeprefix("/usr")):
        run = subprocess.run(["dpkg-query", "--search", candidate], capture_output=True, text=True,
                             check=False)
        if run.returncode == 0:
            return run.stdout.split(":")[0]
    sys.exit(f"no package owns {path}")


def main():
    directory, path = sys.argv[1:3]
    needed = set()
    for program in PROGRAMS:
        needed |= libraries(os.path.join(directory, program))
    made = "".join(f"{p}\n" for p in sorted({package_of(library) for library in needed}))
    with open(path, encoding="utf-8") as file:
        stored = file.read()
    if made == stored:
        print(f"{path} names what the programs load")
        return 0
    if "--rewrite" in sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
        print(f"{path} was written anew: read the difference, then commit it")
        return 1
    print(f"{path} has\n{stored}but the programs load libraries of\n{made}"
          f"to accept: {sys.argv[0]} {directory} {path} --rewrite")
    return 1


if __name__ == "__main__":
    sys.exit(main())
