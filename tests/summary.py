#!/usr/bin/python3
"""Adds up test cases over all phases of tests/run.sh and prints the outcome.

usage: summary.py PHASES

PHASES is a file with one line a phase, its fields separated by tabs:

  step   <passed|failed|skipped>  <name>  [<reason>]    counts as one case
  ctest  <phase>  <ctest's JUnit report>  <folder of GoogleTest's reports>

A GoogleTest binary counts by its cases, everything else as one. A binary that
failed although none of its cases did (it crashed, timed out, leaked) is one
failed case more. Prints failures, skips with their reasons, and as the last
line `N passed, N failed, N skipped`; exit status 0 only if something passed and
nothing failed.
"""

import collections
import os
import sys
import xml.etree.ElementTree as ET

Case = collections.namedtuple("Case", "outcome name reason")


def first_line(text):
    return (text or "").strip().splitlines()[0] if (text or "").strip() else ""


def last_line(text):
    return (text or "").strip().splitlines()[-1] if (text or "").strip() else ""


def gtest_cases(path):
    """The cases of one GoogleTest report; None if there is no whole report."""
    try:
        tree = ET.parse(path)
    except (OSError, ET.ParseError):
        return None
    cases = []
    for case in tree.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skip, failure = case.find("skipped"), case.find("failure")
        if failure is not None:
            cases.append(Case("failed", name, first_line(failure.get("message"))))
        elif skip is not None:
            # "file:line\nmessage"
            cases.append(Case("skipped", name, last_line(skip.get("message") or skip.text)))
        elif case.get("status") == "notrun":
            cases.append(Case("skipped", name, "disabled"))
        else:
            cases.append(Case("passed", name, ""))
    return cases


def ctest_case(test):
    """One test as ctest saw it."""
    name, status = test.get("name"), test.get("status")
    if status == "run":
        return Case("passed", name, "")
    if test.find("skipped") is not None or status == "disabled":
        return Case("skipped", name, last_line(test.findtext("system-out")) or "disabled")
    failure = test.find("failure")
    reason = failure.get("message") if failure is not None else status
    return Case("failed", name, reason or "failed")


def ctest_cases(phase, junit, gtest_folder):
    try:
        tests = list(ET.parse(junit).iter("testcase"))
    except (OSError, ET.ParseError) as error:
        return [Case("failed", phase, f"ctest left no report: {error}")]
    cases = []
    for test in tests:
        whole = ctest_case(test)
        parts = gtest_cases(os.path.join(gtest_folder, whole.name + ".xml"))
        if parts is None:
            cases.append(whole._replace(name=f"{phase}: {whole.name}"))
            continue
        if whole.outcome == "failed" and all(part.outcome != "failed" for part in parts):
            cases.append(Case("failed", f"{phase}: {whole.name}", whole.reason))
        cases.extend(p._replace(name=f"{phase}: {whole.name}: {p.name}") for p in parts)
    return cases


def all_cases(lines):
    cases = []
    for line in lines:
        kind, *fields = line.rstrip("\n").split("\t")
        if kind == "step":
            outcome, name, reason = (fields + [""])[:3]
            cases.append(Case(outcome, name, reason))
        else:
            cases.extend(ctest_cases(*fields))
    return cases


def report(cases):
    """The lines to print, and whether all is well."""
    lines = []
    for outcome in ("skipped", "failed"):
        for case in cases:
            if case.outcome == outcome:
                lines.append(f"{outcome}: {case.name}" + (f" ({case.reason})" if case.reason else ""))
    count = collections.Counter(case.outcome for case in cases)
    lines.append(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return lines, count["passed"] > 0 and count["failed"] == 0


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines, well = report(all_cases(file))
    print("\n".join(lines))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
