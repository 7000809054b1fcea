#!/usr/bin/python3
"""Adds up test cases over all phases of tests/run.sh and prints the outcome.

usage: summary.py PHASES

PHASES is a file with one line a phase, its fields separated by tabs:

  step   <passed|failed>  <seconds>  <name>  [<reason>]     counts as one case
  ctest  <phase>  <seconds>  <ctest's JUnit report>  <folder of GoogleTest's reports>
  again  <phase>  <seconds>  <as above, of the tests that ran a second time>

A GoogleTest binary counts by its cases, everything else as one. A binary that
failed although none of its cases did (it crashed, timed out, leaked) is one
failed case more. A test that ran a second time counts as it did then.

tests/allowed_skips.toml lists what a continuous integration machine may lack:
with CI=true in the environment, a case that was skipped and is not on it has failed.

Prints the time of each phase, the slowest tests, what passed at the second try,
skips with their reasons, failures, and as the last line
`N passed, N failed, N skipped`; exit status 0 only if something passed and nothing
failed.
"""

import collections
import os
import re
import sys
import tomllib
import xml.etree.ElementTree as ET

ALLOWED_SKIPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allowed_skips.toml")
SLOWEST = 10

# Of `phase` "" are steps, which name themselves.
Case = collections.namedtuple("Case", "outcome phase name reason")
# What ctest ran: its cases, and whether it failed as a whole, and why.
Test = collections.namedtuple("Test", "phase name seconds cases failed reason")
Phase = collections.namedtuple("Phase", "name seconds")
Skip = collections.namedtuple("Skip", "test reason")


def first_line(text):
    return (text or "").strip().splitlines()[0] if (text or "").strip() else ""


def last_line(text):
    return (text or "").strip().splitlines()[-1].strip() if (text or "").strip() else ""


def full_name(case):
    return f"{case.phase}: {case.name}" if case.phase else case.name


def gtest_cases(phase, test, path):
    """The cases of one GoogleTest report; None if there is no whole report."""
    try:
        tree = ET.parse(path)
    except (OSError, ET.ParseError):
        return None
    cases = []
    for case in tree.iter("testcase"):
        name = f"{test}: {case.get('classname')}.{case.get('name')}"
        skip, failure = case.find("skipped"), case.find("failure")
        if failure is not None:
            # "file:line\nmessage"
            reason = " ".join((failure.get("message") or "").split("\n")[:2])
            cases.append(Case("failed", phase, name, reason.strip()))
        elif skip is not None:
            reason = last_line(skip.get("message") or skip.text)
            cases.append(Case("skipped", phase, name, reason))
        elif case.get("status") == "notrun":
            cases.append(Case("skipped", phase, name, "disabled"))
        else:
            cases.append(Case("passed", phase, name, ""))
    return cases


def failure_of(test):
    """Why a test failed as a whole: what a sanitizer or ctest says, or what it said last.

    That is the case which it was in, if it crashed or ran out of time.
    """
    output = test.findtext("system-out") or ""
    for line in output.splitlines():
        if line.startswith("SUMMARY: "):
            return line.removeprefix("SUMMARY: ")
    failure = test.find("failure")
    message = failure.get("message") if failure is not None else ""
    return message or last_line(output) or "failed"


def ctest_test(phase, test, gtest_folder):
    """One test as ctest saw it, with the cases that it left a report of."""
    name, status = test.get("name"), test.get("status")
    seconds = float(test.get("time") or 0)
    parts = gtest_cases(phase, name, os.path.join(gtest_folder, name + ".xml"))
    if test.find("skipped") is not None or status == "disabled":
        reason = last_line(test.findtext("system-out")) or "disabled"
        return Test(phase, name, seconds, [Case("skipped", phase, name, reason)], False, "")
    if status == "run":
        return Test(phase, name, seconds, parts or [Case("passed", phase, name, "")], False, "")
    reason = failure_of(test)
    cases = parts or []
    told = [case.reason for case in cases if case.outcome == "failed"]
    if not told:
        cases = cases + [Case("failed", phase, name, reason)]
    return Test(phase, name, seconds, cases, True, (told or [reason])[0])


def ctest_tests(phase, junit, gtest_folder):
    try:
        tests = list(ET.parse(junit).iter("testcase"))
    except (OSError, ET.ParseError) as error:
        reason = f"ctest left no report: {error}"
        return [Test(phase, phase, 0, [Case("failed", "", phase, reason)], True, reason)]
    return [ctest_test(phase, test, gtest_folder) for test in tests]


class Run:
    """What all phases came to."""

    def __init__(self, lines):
        self.steps = []
        self.phases = []
        self.tests = {}  # by phase and name, in their order
        self.second_tries = []  # the first and the second of each
        for line in lines:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "step":
                outcome, seconds, name, reason = (fields + [""])[:4]
                self.phases.append(Phase(name, int(seconds)))
                self.steps.append(Case(outcome, "", name, reason))
            else:
                phase, seconds, junit, folder = fields
                again = kind == "again"
                self.phases.append(Phase(f"tests, {phase}" + (", again" if again else ""),
                                         int(seconds)))
                for test in ctest_tests(phase, junit, folder):
                    if again:
                        self.second_tries.append((self.tests.get((phase, test.name)), test))
                    self.tests[phase, test.name] = test

    def cases(self):
        return self.steps + [case for test in self.tests.values() for case in test.cases]


def read_allowed_skips(path):
    """The entries of the list; it must say of each why."""
    with open(path, "rb") as file:
        entries = tomllib.load(file).get("skip", [])
    skips = []
    for entry in entries:
        if set(entry) != {"test", "reason", "why"} or not entry["why"]:
            sys.exit(f"{path}: an entry has the keys test, reason and why, not {sorted(entry)}")
        skips.append(Skip(re.compile(entry["test"]), re.compile(entry["reason"])))
    return skips


def held_to(allowed, case):
    """The case as it counts where a skip has to be allowed."""
    if case.outcome != "skipped":
        return case
    if any(skip.test.fullmatch(case.name) and skip.reason.fullmatch(case.reason)
           for skip in allowed):
        return case
    return case._replace(
        outcome="failed",
        reason=f"skipped, which tests/allowed_skips.toml does not allow: {case.reason}")


def duration(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def report(run, allowed=None):
    """The lines to print, and whether all is well. `allowed`: the skips that are; None: all."""
    lines = [f"{duration(phase.seconds):>6}  {phase.name}" for phase in run.phases]
    slowest = sorted(run.tests.values(), key=lambda test: -test.seconds)[:SLOWEST]
    if slowest:
        lines.append("slowest tests:")
        lines += [f"{test.seconds:8.1f} s  {test.phase}: {test.name}" for test in slowest]

    cases = run.cases()
    if allowed is not None:
        cases = [held_to(allowed, case) for case in cases]
    late = [(first, second) for first, second in run.second_tries if not second.failed]
    for first, second in late:
        reason = first.reason if first is not None else "not told"
        lines.append(f"passed at the second try: {second.phase}: {second.name} ({reason})")
    for outcome in ("skipped", "failed"):
        for case in cases:
            if case.outcome == outcome:
                lines.append(f"{outcome}: {full_name(case)}"
                             + (f" ({case.reason})" if case.reason else ""))
    if late:
        lines.append(f"{len(late)} passed at the second try only")
    count = collections.Counter(case.outcome for case in cases)
    lines.append(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return lines, count["passed"] > 0 and count["failed"] == 0


def main():
    # Read in any case: a list that is wrong is found where it is written.
    allowed = read_allowed_skips(ALLOWED_SKIPS)
    with open(sys.argv[1], encoding="utf-8") as file:
        run = Run(file)
    lines, well = report(run, allowed if os.environ.get("CI") == "true" else None)
    print("\n".join(lines))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
