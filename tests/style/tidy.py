#!/usr/bin/python3
"""Runs clang-tidy over the files that ship and whose inputs have changed since they passed.

usage: tidy.py ROOT BUILD [--each]      (one file by hand: clang-tidy-19 -p BUILD FILE)

Files that are compiled together are checked together, since most of the time goes into
the headers of libraries. With --each, every file is checked by itself: so it is seen
whether it includes what it uses, and uses what it declares by `using`.

A unit is checked in 3 to 12 seconds, hence what passed is remembered in a cache
outside the clone ($RAPIDEYE_CACHE, else $XDG_CACHE_HOME/rapideye, else
~/.cache/rapideye): an empty file named by the hash of all inputs that are ours.
Those are its files, every first-party and generated header it reaches, how it is
compiled, the configuration and the version of clang-tidy. Headers of the system
are taken to change only with that version.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import repository

CLANG_TIDY = "clang-tidy-19"
FORGET_AFTER_DAYS = 30
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("RAPIDEYE_CACHE") or os.path.join(base, "rapideye")
    return os.path.join(folder, "tidy")


@functools.cache
def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


@functools.cache
def direct_includes(path, search):
    """The headers under `search` that a file names, as full paths."""
    found = []
    for name in INCLUDE.findall(text_of(path)):
        for folder in (os.path.dirname(path), *search):
            header = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(header):
                found.append(header)
                break
    return tuple(found)


def reach(path, search):
    """The file and all headers under `search` that it includes, however deep."""
    seen, todo = {path}, [path]
    while todo:
        for header in direct_includes(todo.pop(), search):
            if header not in seen:
                seen.add(header)
                todo.append(header)
    return sorted(seen)


def search_path(arguments, root):
    """Where quoted includes are looked up, as far as it lies in the clone."""
    folders, previous = [], ""
    for argument in arguments:
        if previous in ("-I", "-isystem"):
            folders.append(argument)
        elif argument.startswith("-I") and len(argument) > 2:
            folders.append(argument[2:])
        previous = argument
    return tuple(f for f in folders if f == root or f.startswith(root + "/"))


def key(entry, root, version):
    arguments = shlex.split(entry["command"])
    digest = hashlib.sha256()

    def add(text):
        # A unit names its files by full paths, which differ between clones.
        digest.update(text.replace(root, ".").encode() + b"\0")

    add(version)
    add(text_of(os.path.join(root, ".clang-tidy")))
    add(" ".join(arguments))
    for path in reach(entry["file"], search_path(arguments, root)):
        add(os.path.relpath(path, root))
        add(text_of(path))
    return digest.hexdigest()


def without_precompiled(command):
    """The command as if nothing were precompiled, which is g++'s."""
    arguments = shlex.split(command)
    kept = []
    for argument in arguments:
        if argument.endswith("/cmake_pch.hxx") and kept[-1:] == ["-include"]:
            kept.pop()
        elif argument != "-Winvalid-pch":
            kept.append(argument)
    return shlex.join(kept)


def check(entry, database):
    run = subprocess.run([CLANG_TIDY, "-p", database, "--quiet", entry["file"]],
                         capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return run.returncode == 0, run.stdout + (run.stderr if run.returncode else "")


def entries(root, build, each):
    """Compile commands of what ships, one a unit or one a file.

    Tests are left to two compilers and the sanitizers: they would take as long
    again as everything else, and what they do wrong shows when they run.
    """
    def ships(path):
        return (path.startswith(root + "/") and not path.startswith(build + "/")
                and not path.startswith(root + "/tests/") and not path.endswith("_test.cc"))

    every = repository.compile_commands(build) if each else repository.compiled_units(build)
    ours = {}
    for entry in every:
        shipped = ships(entry["file"]) if each else all(ships(path) for path in entry["sources"])
        if shipped:
            # clang-tidy reads no entry with more than these.
            ours[entry["file"]] = {"directory": entry["directory"], "file": entry["file"],
                                   "command": without_precompiled(entry["command"])}
    return [ours[path] for path in sorted(ours)]


def forget_old(folder):
    oldest = time.time() - FORGET_AFTER_DAYS * 86400
    for stamp in os.scandir(folder):
        if stamp.stat().st_mtime < oldest:
            os.unlink(stamp.path)


def tidy(root, build, folder, jobs, each):
    """Checks what must be checked; returns (checked, remembered, what failed)."""
    os.makedirs(folder, exist_ok=True)
    forget_old(folder)
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True,
                             text=True).stdout
    todo, remembered = [], 0
    for entry in entries(root, build, each):
        stamp = os.path.join(folder, key(entry, root, version))
        if os.path.exists(stamp):
            os.utime(stamp)
            remembered += 1
        else:
            todo.append((entry, stamp))
    failed = []
    with (tempfile.TemporaryDirectory() as database,
          concurrent.futures.ThreadPoolExecutor(jobs) as pool):
        with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump([entry for entry, _ in todo], file)
        results = pool.map(lambda item: check(item[0], database), todo)
        for (entry, stamp), (passed, said) in zip(todo, results):
            if passed:
                with open(stamp, "w", encoding="utf-8"):
                    pass
            else:
                failed.append(os.path.relpath(entry["file"], root))
                print(said, flush=True)
    return len(todo), remembered, failed


def main():
    root, build = (os.path.realpath(path) for path in sys.argv[1:3])
    each = sys.argv[3:] == ["--each"]
    jobs = int(os.environ.get("RAPIDEYE_JOBS") or os.cpu_count())
    checked, remembered, failed = tidy(root, build, cache_folder(), jobs, each)
    if checked + remembered == 0:
        print(f"{build}/compile_commands.json names no file below {root}: build there first")
        return 1
    print(f"{checked} {'files' if each else 'units'} checked, {remembered} unchanged since they passed, {len(failed)} failed")
    for path in failed:
        print(f"failed: {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
