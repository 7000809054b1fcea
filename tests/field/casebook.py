#!/usr/bin/python3
"""Scores a program on hangs that people reported in public: tests/field/README.md.

The program gets the file of a capture, or the logs of a job, as its last arguments and prints one
JSON object with `cause`, `culprits` ([{slice, task}]) and, where it can, `detail` and, of each culprit,
`hostActivity`. The exit status is 0 if nothing is wrong and no grade is worse than the table says.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, HERE)
import capture as captures  # noqa: E402
import grade as grades  # noqa: E402

REPORTS = os.path.join(HERE, "reports")
TABLE = os.path.join(os.path.dirname(HERE), "scenarios", "FIELD.md")
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
TIMEOUT_S = 60


def load(names):
    """The cases by name, all of them if none is asked for."""
    cases = {}
    for file_name in sorted(os.listdir(REPORTS)):
        name, ending = os.path.splitext(file_name)
        if ending != ".json" or (names and name not in names):
            continue
        with open(os.path.join(REPORTS, file_name), encoding="utf-8") as file:
            cases[name] = json.load(file)
    missing = set(names) - set(cases)
    if missing:
        sys.exit(f"no such case in {REPORTS}: {', '.join(sorted(missing))}")
    return cases


def verdict_of(program, paths):
    """What the program says of a capture or of logs; a program that fails ends the scoring."""
    run = subprocess.run([*program, *paths], capture_output=True, text=True, timeout=TIMEOUT_S,
                         check=False)
    lines = run.stdout.strip().splitlines()
    if run.returncode != 0 or not lines:
        sys.exit(f"{shlex.join([*program, *paths])}: exit status {run.returncode}\n{run.stderr}")
    return json.loads(lines[-1])


def evidence_of(name, case, recogniser, folder):
    """Writes what a case shows, its capture or its logs, and returns the paths."""
    if "capture" in case:
        path = os.path.join(folder, name + ".jsonl")
        captures.write(path, name, case["capture"], recogniser)
        return [path]
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    paths = [os.path.join(folder, name, log) for log in sorted(case["logs"])]
    for path, log in zip(paths, sorted(case["logs"])):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in case["logs"][log])
    return paths


def said(verdict):
    """The verdict in a few words."""
    parts = [verdict["cause"]]
    if verdict.get("detail"):
        parts.append(verdict["detail"])
    parts += sorted(grades.activities(verdict))
    named = sorted(grades.culprits(verdict), key=lambda one: [int(n) for n in one.split("/")])
    shown = ", ".join(named[:4]) + (f" and {len(named) - 4} more" if len(named) > 4 else "")
    return " ".join(parts) + (f": {shown}" if named else "")


def score(cases, program, recogniser, keep):
    """Rows of name, case, grade and verdict."""
    rows = []
    os.makedirs(keep, exist_ok=True)
    for name, case in cases.items():
        verdict = verdict_of(program, evidence_of(name, case, recogniser, keep))
        rows.append((name, case, grades.grade(case, verdict), said(verdict)))
    return rows


def totals(rows):
    counts = [f"{grade} {sum(row[2] == grade for row in rows)}" for grade in reversed(grades.GRADES)]
    undecided = sum(row[1]["truth"]["cause"] == "UNKNOWN" for row in rows)
    honest = sum(grade == "right" and verdict.startswith("UNKNOWN")
                 and case["truth"]["cause"] != "UNKNOWN" for _, case, grade, verdict in rows)
    return (f"{len(rows)} reports: {', '.join(counts)}. Of {undecided} of them the cause was never "
            f"found, and `UNKNOWN` is right; so it is of {honest} others, whose logs do not show the "
            "cause that was found elsewhere.")


def table(rows):
    lines = [totals(rows), "", "| case | symptom | grade | verdict |", "|---|---|---|---|"]
    for name, case, grade, verdict in rows:
        symptom = case["symptom"].replace("|", "\\|")
        lines.append(f"| {name} | {symptom} | {grade} | {verdict} |")
    return "\n".join(lines) + "\n"


def published():
    """The grades of the document's table."""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| (\S+) \|.*\| (right|partly|wrong|not covered) \|[^|]*\|$", text, re.M)
    return dict(rows)


def publish(text):
    """Puts the table in its place in the document."""
    with open(TABLE, encoding="utf-8") as file:
        document = file.read()
    before, rest = document.split(BEGIN)
    after = rest.split(END)[1]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{text}{END}{after}")


def problems(rows, expected):
    """What is wrong, or worse than it was."""
    rank = grades.GRADES.index
    for name, _, grade, verdict in rows:
        was = expected.get(name, "not covered")
        if grade == "wrong":
            yield f"{name}: wrong: {verdict}"
        elif rank(grade) < rank(was):
            yield f"{name}: {grade}, and was {was}: {verdict}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rapideye", required=True, help="reads the raw lines of logs")
    parser.add_argument("--program", help="command line to score (default: rapideye diagnose)")
    parser.add_argument("--publish", action="store_true", help=f"writes the table to {TABLE}")
    parser.add_argument("--keep", help="folder for the captures (default: none are kept)")
    parser.add_argument("--quiet", action="store_true", help="prints problems and totals only")
    parser.add_argument("case", nargs="*", help="names of cases (default: all)")
    return parser.parse_args()


def main():
    args = arguments()
    program = shlex.split(args.program) if args.program else [args.rapideye, "diagnose",
                                                              "--format=json"]
    with tempfile.TemporaryDirectory() as folder:
        rows = score(load(args.case), program, captures.Recogniser(args.rapideye),
                     args.keep or folder)
    print(totals(rows) if args.quiet else table(rows))
    found = list(problems(rows, {} if args.program else published()))
    for problem in found:
        print(problem, file=sys.stderr)
    if args.publish:
        if args.case or args.program:
            sys.exit("the table is of all cases, and of rapideye")
        publish(table(rows))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
