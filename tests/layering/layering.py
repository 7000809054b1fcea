#!/usr/bin/python3
"""Holds every file to its layer: includes, and undefined symbols of pure code.

usage: layering.py includes ROOT BUILD
       layering.py symbols ROOT BUILD

The layers are declared in layers.toml beside this file. Includes are looked at
one by one, not through other headers: a header answers for its own. Symbols are
those that the objects of BUILD leave undefined, and so need from outside. Files that
BUILD has generated count as if they lay in ROOT.
"""

import fnmatch
import os
import re
import shlex
import subprocess
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "style"))
import repository  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


# Where BUILD keeps what it generates, by the paths of the repository.
GENERATED = "generated"


def load():
    with open(os.path.join(HERE, "layers.toml"), "rb") as file:
        return tomllib.load(file)


def layer_of(path, config):
    """The layer with the longest pattern that matches, or None."""
    matching = [layer for layer in config["layer"]
                if path.startswith(layer["files"] + "/") or fnmatch.fnmatch(path, layer["files"])]
    return max(matching, key=lambda layer: len(layer["files"]), default=None)


def starts(name, prefixes):
    return any(prefix == "*" or name.startswith(prefix) for prefix in prefixes)


def why_not_in_pure(name, config):
    """What forbids a standard, system or third-party header in pure code."""
    pure = config["pure"]
    if starts(name, config["third_party"]["prefixes"]):
        return "impure library" if starts(name, pure["forbidden_libraries"]) else ""
    if "/" in name or name.endswith(".h"):
        return "header of C or POSIX"
    return "impure header" if name in pure["forbidden_includes"] else ""


def include_problem(path, quote, name, layer, config):
    """Why this file may not include this; empty if it may."""
    test = path.endswith("_test.cc")
    extra = config["unit_tests"] if test else {"uses": [], "libraries": []}
    uses = layer.get("uses", []) + extra["uses"]
    libraries = layer.get("libraries", []) + extra["libraries"]
    third_party = starts(name, config["third_party"]["prefixes"])
    if third_party and not starts(name, libraries):
        return "this layer may not use that library"
    if third_party or quote == "<":
        if not layer.get("pure") or test or name in layer.get("kernel_data", []):
            return ""
        return why_not_in_pure(name, config)
    other = layer_of(name, config)
    if other is None:
        return "not a path from the root of the repository"
    if other["files"] != layer["files"] and not any(fnmatch.fnmatch(other["files"], use) for use in uses):
        return f"{layer['files']} may not use {other['files']}"
    return ""


def include_problems(texts, config):
    """Problems in texts: a mapping from path to the text of the file."""
    found = []
    for path, text in texts.items():
        layer = layer_of(path, config)
        if layer is None:
            found.append(f"{path}: no layer claims it: say in layers.toml what it may use")
            continue
        for match in INCLUDE.finditer(text):
            quote, name = match.groups()
            problem = include_problem(path, quote, name, layer, config)
            if problem:
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(f"{path}:{line}: includes {name}: {problem}")
    return found


def undefined_symbols(object_file):
    run = subprocess.run(["nm", "--undefined-only", "--demangle", "--format=posix", object_file],
                         check=True, capture_output=True, text=True)
    # "<name> <kind>": a demangled name may hold blanks, a version follows an @.
    names = (re.fullmatch(r"(.+?)(@\S+)? [A-Za-z]\s*", line) for line in run.stdout.splitlines())
    return [name.group(1) for name in names if name]


def symbol_problems(path, symbols, config):
    found = []
    for kind, patterns in config["pure"]["forbidden_symbols"].items():
        for symbol in symbols:
            if any(re.search(pattern, symbol) for pattern in patterns):
                found.append(f"{path}: pure code needs {symbol} ({kind})")
    return found


def pure_objects(root, build, config):
    """(source, object) of everything compiled in a pure layer, its tests excepted."""
    for entry in repository.compile_commands(build):
        generated = os.path.join(build, GENERATED) + "/"
        source = os.path.relpath(entry["file"], generated if entry["file"].startswith(generated) else root)
        layer = layer_of(source, config)
        if layer is None or not layer.get("pure") or source.endswith("_test.cc"):
            continue
        arguments = shlex.split(entry["command"])
        output = arguments[arguments.index("-o") + 1]
        yield source, os.path.join(entry["directory"], output)


def generated_files(build):
    folder = os.path.join(build, GENERATED)
    return [os.path.relpath(os.path.join(where, name), folder)
            for where, _, names in os.walk(folder) for name in names if name.endswith((".cc", ".h"))]


def rule_problems(config, is_folder):
    """Layers that are no folders: where a rule has to name a file, the folder is wrong.

    Of every source the part that does I/O bears the same name; `v1` is where protoc's own
    headers are included from.
    """
    return [f"layers.toml: {layer['files']} is no folder: give what differs a folder of its own"
            for layer in config["layer"]
            if not layer["files"].endswith("/*/fetch*") and layer["files"] != "v1"
            and not is_folder(layer["files"])]


def check_includes(root, build):
    config = load()
    texts = {path: repository.read(root, path) for path in repository.cpp_files(root)}
    generated = os.path.join(build, GENERATED)
    texts.update({path: repository.read(generated, path) for path in generated_files(build)})
    found = rule_problems(config, lambda files: os.path.isdir(os.path.join(root, files)))
    found += include_problems(texts, config)
    return found, f"{len(texts)} files include what their layer may use"


def check_symbols(root, build):
    config = load()
    found, compiled = [], set()
    for source, object_file in pure_objects(root, build, config):
        compiled.add(source)
        if not os.path.exists(object_file):
            found.append(f"{source}: {object_file} is not built")
            continue
        found += symbol_problems(source, undefined_symbols(object_file), config)
    for path in repository.cpp_files(root):
        layer = layer_of(path, config)
        if (layer and layer.get("pure") and path.endswith(".cc") and path not in compiled
                and not path.endswith("_test.cc")):
            found.append(f"{path}: pure, and no target compiles it: its symbols go unchecked")
    return found, f"{len(compiled)} objects of pure code need nothing impure"


def main():
    what, *folders = sys.argv[1:]
    check = {"includes": check_includes, "symbols": check_symbols}[what]
    found, well = check(*(os.path.realpath(folder) for folder in folders))
    print("\n".join(found) or well)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
