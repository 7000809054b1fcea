"""The table of truth beside verdict, and its JSON."""

import json
import os

from faults import FAULTS

HEAD = (
    "| fault | page | truth | verdict | by itself | alarm, digest after | result |\n"
    "|---|---|---|---|---|---|---|"
)


# What is right by itself, with the page and without: it has to stay so.
_ALWAYS = (
    *("sigkill", "sigsegv", "exception", "leader-killed", "source-raises", "loader-killed"),
    *("sigstop", "other-shapes", "programs-swapped"),
)
MUST = {
    True: _ALWAYS + ("to-the-end", "sigterm-taken", "other-constant"),
    False: _ALWAYS,
}


def must_be_right(result):
    return not result.get("silent") and result["fault"] in MUST[result["page"]]


def row(result):
    by_itself = "verdict" in result
    nothing = FAULTS[result["fault"]].raises_nothing
    verdict = result.get("verdict") or result.get("asked") or result.get("problem", "no answer")
    grade = result["grade"]
    if grade == "missed":
        grade += f" (asked: {result.get('askedGrade', 'no answer')})"
    seconds = f"{result['alarmSeconds']:.1f}, {result['digestSeconds']:.1f} s" if by_itself else ""
    alarm = "yes" if by_itself else "nothing" if nothing else "no"
    page = "yes" if result["page"] else "silent" if result.get("silent") else "no"
    return (
        f"| {result['fault']} | {page} | {result['truth']} "
        f"| {verdict} | {alarm} | {seconds} | {grade} |"
    )


def line(result):
    return row(result).strip("| ").replace(" | ", "  ")


def markdown(results):
    order = list(FAULTS)
    ordered = sorted(
        results, key=lambda one: (order.index(one["fault"]), not one["page"], one["seed"])
    )
    counts = {}
    for result in results:
        counts[result["grade"]] = counts.get(result["grade"], 0) + 1
    told = ", ".join(f"{count} {grade}" for grade, count in sorted(counts.items()))
    return "\n".join([HEAD] + [row(result) for result in ordered] + ["", f"{len(results)}: {told}"])


def write(folder, results):
    """results.json, and the table beside it."""
    for kind, text in (("json", json.dumps(results, indent=1)), ("md", markdown(results) + "\n")):
        with open(os.path.join(folder, f"results.{kind}"), "w", encoding="utf-8") as file:
            file.write(text)


def registry():
    """What each fault does, for README.md."""
    rows = [
        f"| {fault.name} | {'rank ' + str(fault.rank) if not fault.raises_nothing else ''} "
        f"| {fault.does} | {fault.effect} | {fault.told_by} | {fault.truth} |"
        for fault in FAULTS.values()
    ]
    return "\n".join(
        ["| fault | in | does | the job | told by | truth |", "|---|---|---|---|---|---|"] + rows
    )
