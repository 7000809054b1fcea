"""What belongs to the repository: one listing for all checks of its text."""

import json
import os
import re
import subprocess


def files(root):
    """Paths, relative to root and sorted, of all that is or could be committed.

    Files that exist only here count too, unless they are ignored: what is about
    to be committed is checked as well. Without git (an unpacked archive) it is
    every file outside build/ and hidden caches.
    """
    # The clone may belong to someone else than who runs the tests.
    git = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z",
           "--cached", "--others", "--exclude-standard"]
    if os.path.exists(os.path.join(root, ".git")):
        listed = subprocess.run(git, check=True, capture_output=True).stdout.decode()
        paths = {p for p in listed.split("\0") if p}
    else:
        paths = set()
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if f not in ("build", ".cache", "__pycache__")]
            paths.update(os.path.relpath(os.path.join(folder, n), root) for n in names)
    return sorted(p for p in paths if os.path.isfile(os.path.join(root, p)))


def cpp_files(root):
    return [p for p in files(root) if p.endswith((".cc", ".h"))]


def shell_scripts(root):
    """Everything that a shell runs, whatever its name."""
    found = []
    for path in files(root):
        with open(os.path.join(root, path), "rb") as file:
            first = file.readline(64)
        if first.startswith(b"#!") and first.rstrip().endswith((b"/sh", b"bash")):
            found.append(path)
    return found


UNIT = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")


def compiled_units(build):
    """The commands of build/compile_commands.json, each with its `sources`.

    These are several where files are compiled together (RAPIDEYE_UNITY).
    """
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        entry["sources"] = [entry["file"]]
        if UNIT.search(entry["file"]):
            with open(entry["file"], encoding="utf-8") as unit:
                entry["sources"] = re.findall(r'^#include "(.*)"$', unit.read(), re.M)
        yield entry


def compile_commands(build):
    """One command for each file of ours, also where several are compiled to one object."""
    for entry in compiled_units(build):
        for source in entry["sources"]:
            command = entry["command"].replace(entry["file"], source)
            yield dict(entry, file=source, command=command)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()
