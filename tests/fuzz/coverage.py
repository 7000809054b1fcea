#!/usr/bin/python3
"""Prints how much of each source file a fuzzer's inputs reach.

usage: FUZZER -runs=0 -print_coverage=1 CORPUS... 2>&1 | coverage.py NAME ROOT

Counts the edges of the functions that libFuzzer lists, by file of ROOT, without tests and
generated code. A file of which no function was reached is left out: the program links many that
are none of the parser's. Edges of errors that never come count, too: no file reaches 100 %. Exit status 1 if nothing was reached, as when the program printed no list.
"""

import collections
import os
import re
import sys

FUNCTION = re.compile(r"^(?:UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) .* (/\S+):\d+$")


def edges_by_file(lines, root):
    """Covered and all edges of each file, as [covered, all]."""
    edges = collections.defaultdict(lambda: [0, 0])
    for line in lines:
        found = FUNCTION.match(line.rstrip("\n"))
        if found is None:
            continue
        path = os.path.relpath(os.path.normpath(found[3]), root)
        if path.split(os.sep)[0] in ("..", "build", "tests"):
            continue
        edges[path][0] += int(found[1])
        edges[path][1] += int(found[2])
    return {path: counts for path, counts in edges.items() if counts[0] > 0}


def share(covered, total):
    return f"{100 * covered // total:3d} %"


def main(name, root):
    sys.stdin.reconfigure(errors="replace")
    edges = edges_by_file(sys.stdin, os.path.realpath(root))
    covered = sum(counts[0] for counts in edges.values())
    if covered == 0:
        print(f"coverage of {name}: no list of functions")
        return 1
    total = sum(counts[1] for counts in edges.values())
    print(f"coverage of {name}: {covered} of {total} edges,{share(covered, total)}")
    for path, counts in sorted(edges.items()):
        print(f"  {share(*counts)}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
