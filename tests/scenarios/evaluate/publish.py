#!/usr/bin/python3
"""The figures of ACCURACY.md, measured again and put in their places.

usage: publish.py RAPIDEYE-EVALUATE ACCURACY.md

Runs every evaluation that the document quotes (a few minutes) and rewrites its
tables; the text around them stays, and has to be read again by whoever changed
the classifier. Percentages of a kind are those of its scenarios without an
abort unless the column says otherwise.
"""

import re
import subprocess
import sys

COUNT = 20_000
SEED = 9_000_000
RUNS = (  # as the first table names them
    "--mix=flat",
    "--mix=realistic",
    "--mix=flat --exporters",
    "--mix=realistic --exporters",
    "--mix=flat --noise=heavy",
    "--mix=realistic --noise=heavy",
    "--mix=flat --names=v5e",
    "--mix=flat --names=v5e --texts",
    "--mix=flat --names=shard-map",
    "--mix=flat --names=shard-map --texts",
    "--mix=healthy",
    "--mix=healthy --noise=heavy",
)
FLAT, EXPORTERS, HEAVY = "--mix=flat", "--mix=flat --exporters", "--mix=flat --noise=heavy"
# A kind is listed as one that exporters change from this many points on.
DECIDABLE_POINTS, CULPRIT_POINTS = 5.0, 0.5
THIN_BELOW = 98.0


class Run:
    """What one evaluation printed."""

    def __init__(self, program, arguments):
        self.text = subprocess.run(
            [program, f"--count={COUNT}", f"--seed={SEED}", *arguments.split()],
            check=True, capture_output=True, text=True).stdout
        blocks = self.text.split("\n\n")
        self.kinds = {}
        for line in blocks[0].splitlines()[1:]:
            name, count, *shares, unknown = line.split()
            self.kinds[name] = (int(count), *map(float, shares), int(unknown))
        self.confusion = blocks[1]
        self.calibration = blocks[2]

    def find(self, pattern):
        return re.search(pattern, self.text).groups()

    def stated(self, below=2.0):
        """How many verdicts state a confidence, at most `below`."""
        bins = re.findall(r"^\d\.\d\d - (\d\.\d\d) +(\d+)", self.calibration, re.M)
        return sum(int(count) for upper, count in bins if float(upper) <= below)


def first_table_row(name, run):
    cause, detail, culprits = run.find(
        r"cause ([\d.]+) %, detail ([\d.]+) %, exact culprits ([\d.]+) %")
    (unknown,) = run.find(r"unknown although decidable \d+ \(([\d.]+) %\)")
    removals, alarms, healthy = run.find(r"wrong removals (\d+), false alarms (\d+) of (\d+)")
    error, hard = run.find(
        r"expected calibration error ([\d.]+), of verdicts below 0\.95 ([\d.]+)")
    below = run.stated(0.95)
    if run.stated() < 100:  # of jobs that do not hang hardly any does
        error = ""
    return "| " + " | ".join([
        f"`{name}`", f"{cause} %", f"{detail} %", f"{culprits} %", f"{unknown} %", removals,
        f"{alarms} of {int(healthy):,}" if int(healthy) else "none healthy", error,
        f"{hard} of {below:,}" if below else ""]) + " |"


def by_kind(run):
    lines = ["kind                     cause  detail  culprits  decidable  unknown   "
             "after an abort: cause, culprits"]
    for name, (_, cause, detail, culprits, decidable, unknown) in run.kinds.items():
        if name.endswith("/aborted"):
            continue
        line = f"{name:<22}{cause:8.1f}{detail:8.1f}{culprits:10.1f}{decidable:11.1f}{unknown:9d}"
        aborted = run.kinds.get(name + "/aborted")
        if aborted:
            line += f"   {aborted[1]:.1f}, {aborted[3]:.1f}"
        lines.append(line)
    return lines


def exporters(without, with_them):
    lines = ["kind                       decidable without, with  culprits without, with"]
    for name, one in without.kinds.items():
        other = with_them.kinds[name]
        if (abs(one[4] - other[4]) < DECIDABLE_POINTS and abs(one[3] - other[3]) < CULPRIT_POINTS):
            continue
        lines.append(f"{name:<25}{f'{one[4]:.1f}, {other[4]:.1f}':>25}"
                     f"{f'{one[3]:.1f}, {other[3]:.1f}':>25}")
    return lines


def thin(run):
    lines = ["kind                         cause  detail  culprits  decidable  unknown"]
    worst = sorted(run.kinds.items(), key=lambda kind: (kind[1][3], kind[0]))
    for name, (_, cause, detail, culprits, decidable, unknown) in worst:
        if culprits < THIN_BELOW:
            lines.append(f"{name:<26}{cause:8.1f}{detail:8.1f}{culprits:10.1f}{decidable:11.1f}"
                         f"{unknown:9d}")
    return lines


def replace_blocks(text, heading, blocks):
    """The blocks of code under a heading, in their order."""
    start = text.index(f"\n### {heading}\n")
    after = text.find("\n#", start + 1)
    end = len(text) if after < 0 else after
    section = text[start:end]
    contents = iter(blocks)
    section = re.sub(r"```\n.*?\n```", lambda _: "```\n" + "\n".join(next(contents)) + "\n```",
                     section, flags=re.S)
    if next(contents, None) is not None:
        sys.exit(f"{heading}: fewer blocks than figures")
    return text[:start] + section + text[end:]


def main():
    program, path = sys.argv[1:]
    runs = {}
    for arguments in RUNS:
        print(f"rapideye-evaluate {arguments}", file=sys.stderr, flush=True)
        runs[arguments] = Run(program, arguments)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, run in runs.items():
        text, replaced = re.subn(rf"^\| `{re.escape(name)}` \|.*$",
                                 lambda _, n=name, r=run: first_table_row(n, r), text, flags=re.M)
        if replaced != 1:
            sys.exit(f"{path}: no row `{name}`")
    text = replace_blocks(text, "By kind", [by_kind(runs[FLAT])])
    text = replace_blocks(text, "Confusion", [runs[FLAT].confusion.splitlines()])
    text = replace_blocks(text, "Calibration", [
        ["--noise=on", *runs[FLAT].calibration.splitlines()],
        ["--noise=heavy", *runs[HEAVY].calibration.splitlines()]])
    text = replace_blocks(text, "What exporters would add",
                          [exporters(runs[FLAT], runs[EXPORTERS])])
    text = replace_blocks(text, "Thin evidence", [thin(runs[HEAVY])])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
