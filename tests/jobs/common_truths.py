"""Truths that faults of several files share, and the ranks that they name."""

from fault import ODD_RANK
from truth import NOBODY, Truth, Verdict

ODD = frozenset({ODD_RANK})
TWO = frozenset({ODD_RANK, 3})
LEADER = frozenset({0})
EVERYBODY = frozenset(range(4))


def error(detail, *culprits):
    return Truth([Verdict("UNRECOVERABLE_ERROR", detail)], culprits or (ODD,))


def not_queued(*activities, culprits=(ODD,)):
    return Truth(
        [Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", activity) for activity in activities],
        culprits,
    )


EXITED = error("PROCESS_EXIT")
STOPPED = error("PROCESS_STOPPED")
PREEMPTED = error("PREEMPTED")
INPUT = Truth([Verdict("DATA_INPUT_STALL", "INPUT_PIPELINE")])
OTHER_ORDER = Truth(
    [
        Verdict("DIFFERENT_MODULE", "LAUNCH_ORDER"),
        Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "BARRIER"),
    ]
)
# By the words of Gloo alone it is nobody's.
MISMATCH = Truth([Verdict("DIFFERENT_MODULE"), Verdict("FINGERPRINT_MISMATCH")], [ODD, NOBODY])
UNKNOWN = Truth([Verdict("UNKNOWN")], [NOBODY])
CUT = Truth(
    [
        Verdict("NETWORKING_ISSUE", "DCN_HOST"),
        Verdict("NETWORKING_ISSUE", "DCN_PARTITION"),
        Verdict("NETWORKING_ISSUE", "DCN_LINK"),
    ]
)
