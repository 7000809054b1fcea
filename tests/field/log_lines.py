#!/usr/bin/python3
"""Scores how well `rapideye logs` tells lines that matter from lines that do not.

    log_lines.py RAPIDEYE TSV... [--recall=0.95] [--precision=0.98] [--all]

A row is KIND <tab> line <tab> origin; `new:KIND` is KIND. Each line is read as a log of
its own. Recall: the share of the lines of any kind but `none` of which an event is
printed, whatever its kind. Precision: of all lines of which one is printed, those that are
not `none`. Status 1 if either is below its goal; --all shows kinds that differ, too.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

NONE = "none"


class Score:
    """What became of the lines of one table."""

    def __init__(self):
        self.missed, self.alarms, self.differing = [], [], []
        self.found = self.wanted = 0

    def count(self, expected, kinds, line):
        if expected == NONE:
            if kinds:
                self.alarms.append((kinds, line))
            return
        self.wanted += 1
        if not kinds:
            self.missed.append(([expected], line))
            return
        self.found += 1
        if expected not in kinds:
            self.differing.append(([expected, "not"] + kinds, line))

    def recall(self):
        return self.found / self.wanted if self.wanted else 1.0

    def precision(self):
        printed = self.found + len(self.alarms)
        return self.found / printed if printed else 1.0


def read_rows(path):
    for number, row in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not row or row.startswith("#"):
            continue
        columns = row.split("\t")
        if len(columns) != 3:
            sys.exit(f"{path}: line {number}: expected kind, line and origin, separated by tabs")
        yield columns[0].removeprefix("new:"), columns[1]


def kinds_of(rapideye, lines):
    """The kinds of the events of each line."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, line in enumerate(lines):
            paths.append(pathlib.Path(folder) / f"{number}.log")
            paths[-1].write_text(line + "\n", encoding="utf-8")
        run = subprocess.run([rapideye, "logs", *map(str, paths)], capture_output=True, check=True)
    kinds = [[] for _ in lines]
    for text in run.stdout.splitlines():
        event = json.loads(text)
        kinds[int(pathlib.Path(event["file"]).stem)].append(event["kind"])
    return kinds


def score(rapideye, path):
    rows = list(read_rows(path))
    result = Score()
    for (expected, line), kinds in zip(rows, kinds_of(rapideye, [line for _, line in rows])):
        result.count(expected, kinds, line)
    return result


def show(title, entries):
    for kinds, line in entries:
        print(f"  {title}: {' '.join(kinds)}: {line[:200]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("rapideye")
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--precision", type=float, default=0.98)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    good = True
    for path in args.tables:
        result = score(args.rapideye, path)
        print(
            f"{path.name}: recall {result.recall():.3f} ({result.found}/{result.wanted}), "
            f"precision {result.precision():.3f} ({len(result.alarms)} false), "
            f"{len(result.differing)} of another kind"
        )
        show("missed", result.missed)
        show("false", result.alarms)
        if args.all:
            show("kind", result.differing)
        good = good and result.recall() >= args.recall and result.precision() >= args.precision
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
