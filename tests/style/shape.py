#!/usr/bin/python3
"""Holds the repository to its shape: the top level, the sizes of what is read as one, how
headers begin, and who starts threads.

usage: shape.py ROOT
"""

import collections
import os
import re
import sys

import cpp_sizes
import repository

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md",
    "agent", "classifier", "coordinator", "deploy", "digest", "proto", "tests",
}

# A file has one subject, whole, and can be read in one sitting; a class definition fits
# two screens, a function one. A limit on files alone cuts classes apart.
MAX_FILE = 700
MAX_LINES = {"class": 120, "function": 60}
# Data (captures, goldens, schemas) and documents are as long as they are.
READ_AS_CODE = (".cc", ".h", ".py", ".sh", ".proto", ".cmake", "CMakeLists.txt")

# A header begins with a sentence of a noun and a verb ("Journal stores ...", "Tracks PCIe
# error counters ..."), not with a clause that leaves out what the header declares.
NO_SENTENCE = re.compile(r"(What|Who|Whom|Whose|Whoever|Which|One|How|Where|Whether|When)\b")

# What is longer, until it is rebuilt: it may shrink only. One word says with what.
LONGER = {}
# Classes whose members stand in several .cc, by folder and name.
CUT_APART = {}

# A rule returns its evidence as data (classifier/findings/facts.h, rejections.h) and builds no sentence.
RULES = "classifier/rules/"
OF_SENTENCES = re.compile(r'#include "(absl/strings/(?:str_cat|str_format|str_join)\.h|classifier/wording/phrases\.h)"')
# Rules that still build sentences, until they are rebuilt.
WORDED_RULES = {"classifier/rules/job_logs.cc"}

# The only threads, each with an owner that joins it or leaves it behind on purpose.
THREADS = "proto/common/worker/"
OWN_THREAD = re.compile(r"\bstd::j?thread\b|\bpthread_create\b|\bstd::async\b")


def top_level_problems(paths):
    return [f"{top}: not among the agreed top-level names: {' '.join(sorted(TOP_LEVEL))}"
            for top in sorted({p.split("/")[0] for p in paths})
            if not top.startswith(".") and top not in TOP_LEVEL]


def file_problems(root, paths):
    found = []
    for path in paths:
        script = "." not in os.path.basename(path) and os.access(os.path.join(root, path), os.X_OK)
        if path.endswith(READ_AS_CODE) or script:
            lines = repository.read(root, path).count("\n")
            if lines > MAX_FILE:
                found.append(f"{path}: {lines} lines; at most {MAX_FILE}: give each subject its own file")
    return found


def cpp_problems(root, paths, longer, cut_apart):
    """`longer` and `cut_apart` are the exceptions; one that is not needed is a problem, too."""
    found = []
    unused = dict(longer)
    files_of = collections.defaultdict(list)
    for path in paths:
        if not path.endswith((".cc", ".h")):
            continue
        text = repository.read(root, path)
        own = set()
        for one in cpp_sizes.definitions(text):
            if one.kind == "class":
                own.add(one.name)
            limit = MAX_LINES[one.kind]
            if one.lines <= limit:
                continue
            unused.pop((path, one.name), None)
            limit, why = longer.get((path, one.name), (limit, "one subject each"))
            if one.lines > limit:
                found.append(f"{path}:{one.line}: {one.kind} {one.name} has {one.lines} lines; "
                             f"at most {limit} ({why})")
        if path.endswith(".cc"):
            # A class that only this file knows may share its name with another one.
            for name in cpp_sizes.members_of(text) - own:
                files_of[(os.path.dirname(path), name)].append(path)
    for key, files in sorted(files_of.items()):
        if len(files) > 1 and key not in cut_apart:
            found.append(f"{files[1]}: members of {key[1]} stand in {files[0]} as well; a class "
                         "stands in one .cc, its parts in classes with state of their own")
    for path, name in unused:
        found.append(f"{path}: {name} is no longer too long: take it off the list in shape.py")
    for folder, name in cut_apart:
        if len(files_of[(folder, name)]) < 2:
            found.append(f"{folder}: {name} stands in one file: take it off the list in shape.py")
    return found


def header_problems(root, paths):
    found = []
    for path in paths:
        if not path.endswith(".h"):
            continue
        first = repository.read(root, path).split("\n", 1)[0]
        if not first.startswith(("// ", "/* ")):
            found.append(f"{path}:1: begins with no comment: say what the header declares and does")
        elif word := NO_SENTENCE.match(first[3:]):
            found.append(f"{path}:1: begins with '{word[0]}': begin with a noun of the field and "
                         "an active verb, such as \"Tracks PCIe error counters since ...\"")
    return found


def rule_problems(root, paths, worded):
    """`worded` are the exceptions; one that is not needed is a problem, too."""
    found = []
    for path in paths:
        if not path.startswith(RULES) or path.endswith("_test.cc"):
            continue
        of_sentences = OF_SENTENCES.search(repository.read(root, path))
        if of_sentences and path not in worded:
            found.append(f"{path}: includes {of_sentences[1]}: a rule returns facts and rejections "
                         "(classifier/findings/facts.h, rejections.h), whose sentences stand there")
        elif not of_sentences and path in worded:
            found.append(f"{path}: builds no sentence: take it off the list in shape.py")
    return found


def thread_problems(root, paths):
    found = []
    for path in paths:
        if (path.endswith((".cc", ".h")) and not path.startswith(("tests/", THREADS))
                and not path.endswith("_test.cc")):
            own = OWN_THREAD.search(repository.read(root, path))
            if own:
                found.append(f"{path}: {own[0]}: use Thread, Worker or PeriodicWorker of {THREADS}")
    return found


def problems(root, longer=None, cut_apart=None, worded=()):
    paths = repository.files(root)
    return (top_level_problems(paths) + file_problems(root, paths) + header_problems(root, paths)
            + cpp_problems(root, paths, longer or {}, cut_apart or {})
            + rule_problems(root, paths, worded) + thread_problems(root, paths))


def main():
    found = problems(sys.argv[1], LONGER, CUT_APART, WORDED_RULES)
    print("\n".join(found) or "the repository has its shape")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
