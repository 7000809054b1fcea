#!/usr/bin/python3
"""Holds the repository to its shape: the top level, and the size of files.

usage: shape.py ROOT
"""

import os
import sys

import repository

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md",
    "agent", "classifier", "coordinator", "deploy", "digest", "proto", "tests",
}

# A file has one subject and can be read in one sitting.
MAX_LINES = 450
# Data (captures, goldens, schemas) is as long as it is.
READ_BY_PEOPLE = (".cc", ".h", ".py", ".sh", ".proto", ".cmake", ".md", "CMakeLists.txt")


def problems(root):
    found = []
    paths = repository.files(root)
    for top in sorted({p.split("/")[0] for p in paths}):
        if not top.startswith(".") and top not in TOP_LEVEL:
            found.append(f"{top}: not among the agreed top-level names: {' '.join(sorted(TOP_LEVEL))}")
    for path in paths:
        script = "." not in os.path.basename(path) and os.access(os.path.join(root, path), os.X_OK)
        if path.endswith(READ_BY_PEOPLE) or script:
            lines = repository.read(root, path).count("\n")
            if lines > MAX_LINES:
                found.append(f"{path}: {lines} lines; at most {MAX_LINES}: give each subject its own file")
    return found


def main():
    found = problems(sys.argv[1])
    print("\n".join(found) or "the repository has its shape")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
