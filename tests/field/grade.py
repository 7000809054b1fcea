"""Grades a verdict against the truth of a case."""

GRADES = ("wrong", "not covered", "partly", "right")


def truths(case):
    """What is true, and what else may be said of it."""
    return [case["truth"], *case.get("accept", [])]


def culprits(verdict):
    """Workers that a verdict names, as "slice/task"."""
    return {f"{one['slice']}/{one['task']}" for one in verdict.get("culprits", [])}


def at_fault(case):
    """Everybody whom some truth names."""
    named = set()
    for truth in truths(case):
        named |= set(truth.get("culprits", [])) | set(truth.get("culpritsAmong", []))
    return named


def names_whom(truth, verdict):
    """The workers of the truth and nobody else; of those of `culpritsAmong` any but none."""
    named = culprits(verdict)
    if "culpritsAmong" in truth:
        return bool(named) and named <= set(truth["culpritsAmong"])
    return named == set(truth["culprits"])


def activities(verdict):
    return {one["hostActivity"] for one in verdict.get("culprits", []) if "hostActivity" in one}


def is_right(truth, verdict):
    if verdict["cause"] != truth["cause"] or not names_whom(truth, verdict):
        return False
    if "detail" in truth and verdict.get("detail") != truth["detail"]:
        return False
    return "hostActivity" not in truth or activities(verdict) == {truth["hostActivity"]}


def grade(case, verdict):
    """One of GRADES."""
    if any(is_right(truth, verdict) for truth in truths(case)):
        return "right"
    cause = verdict["cause"]
    if cause == "UNKNOWN":
        return "not covered"
    named = culprits(verdict)
    hangs = [truth["cause"] != "NO_HANG" for truth in truths(case)]
    if cause == "NO_HANG":
        return "partly" if not all(hangs) else "wrong"
    if not any(hangs) or named - at_fault(case):
        return "wrong"
    cause_fits = any(truth["cause"] == cause for truth in truths(case))
    return "partly" if cause_fits or named else "wrong"
