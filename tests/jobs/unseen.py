"""Faults whose truth was written, by classifier/CAUSES.md, before any verdict on them was read.

They differ from those of faults.py on purpose: another way to die, to leave the others, to begin.
"""

import signal

import injections
import networks
from fault import LAST_STEP, ODD_RANK, Fault
from truth import NOBODY, Truth, Verdict

TWO = frozenset({ODD_RANK, 3})
EVERYBODY = frozenset(range(4))


def _error(detail, *culprits):
    return Truth([Verdict("UNRECOVERABLE_ERROR", detail)], culprits or (frozenset({ODD_RANK}),))


def _not_queued(*activities):
    return Truth(
        [Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", activity) for activity in activities]
    )


EXITED = _error("PROCESS_EXIT")
STOPPED = _error("PROCESS_STOPPED")
OTHER_ORDER = Truth([Verdict("DIFFERENT_MODULE", "LAUNCH_ORDER")]) | _not_queued("BARRIER")
# By the words of Gloo alone it is nobody's.
MISMATCH = Truth(
    [Verdict("DIFFERENT_MODULE"), Verdict("FINGERPRINT_MISMATCH")], [frozenset({ODD_RANK}), NOBODY]
)
UNKNOWN = Truth([Verdict("UNKNOWN")], [NOBODY])
CUT = Truth(
    [
        Verdict("NETWORKING_ISSUE", "DCN_HOST"),
        Verdict("NETWORKING_ISSUE", "DCN_PARTITION"),
        Verdict("NETWORKING_ISSUE", "DCN_LINK"),
    ]
)
HALVES = Truth(
    [Verdict("NETWORKING_ISSUE", "DCN_PARTITION")],
    [TWO, frozenset({0, 1})],
)

_ENDS = (
    Fault(
        "leader-stopped",
        "rank 0, which serves coordination, is stopped by SIGSTOP",
        "as sigstop",
        "process state",
        _error("PROCESS_STOPPED", frozenset({0})),
        rank=0,
        inject=injections.send(signal.SIGSTOP),
    ),
    Fault(
        "two-killed",
        "it and another one are killed by SIGKILL at once",
        "as sigkill",
        "exits",
        _error("PROCESS_EXIT", TWO),
        inject=injections.kill_those_of_truth,
    ),
    Fault(
        "debugger",
        "a debugger is attached, and stops all its threads",
        "as sigstop",
        "process state",
        STOPPED,
        inject=injections.attach_debugger,
    ),
    Fault(
        "killed-in-save",
        "killed by SIGKILL while its save is under way",
        "as sigkill",
        "exit",
        EXITED,
        odd="killed-in-save",
    ),
    Fault(
        "killed-in-compilation",
        "killed by SIGKILL before its first step",
        "as sigkill",
        "exit",
        EXITED,
        at="told",
        patience=60,
        odd="killed-in-compilation",
        odd_at=0,
    ),
    Fault(
        "exception-beside-thread",
        "raises in the loop, and a thread that never ends keeps its process",
        "as exception",
        "traceback",
        EXITED,
        odd="exception-beside-thread",
    ),
    Fault(
        "exits-on-sigterm",
        "takes SIGTERM by a handler of its own, which ends it with status 1",
        "as exception",
        "shutdown in its stack; the barrier's time-out",
        EXITED | _error("PREEMPTED"),
        odd="exits-on-sigterm",
        odd_at=0,
        inject=injections.send(signal.SIGTERM),
    ),
    Fault(
        "all-raise",
        "all raise the same in the loop",
        "all end",
        "tracebacks",
        _error("PROCESS_EXIT", EVERYBODY),
        inject=injections.nothing,
        options=("--odd=exception", "--odd-at=65"),
    ),
    Fault(
        "watchdogs",
        "two threads take two locks in opposite order; watchdogs of all end all after 8 s",
        "all end with status 1",
        "stacks that watchdogs wrote",
        _not_queued("LOCK") | UNKNOWN,
        odd="lock",
        options=("--watchdog=8",),
    ),
)
_BEGINNINGS = (
    Fault(
        "import-error",
        "a module is missing before it joins the others",
        "the others wait in initialize, then end",
        "traceback",
        EXITED,
        at="start",
        patience=110,
        odd="import-error",
        odd_at=0,
    ),
    Fault(
        "import-hangs",
        "reads a file that blocks in open, before it joins the others",
        "the others wait in initialize, then end",
        "stacks; the time-out of the others",
        _error("NOT_STARTED") | _not_queued("STORAGE_READ", "OTHER", "START_UP"),
        at="start",
        patience=110,
        odd="import-hangs",
        odd_at=0,
    ),
    Fault(
        "settings-hang",
        "waits for a server that never answers, after it joined the others, before its first step",
        "the others wait in their first step",
        "stacks",
        _not_queued("STORAGE_READ", "OTHER"),
        at="told",
        odd="settings-hang",
        odd_at=0,
        prepare=injections.settings_server,
        patience=110,
    ),
    Fault(
        "one-too-many",
        "rank 0 waits for a fifth that does not exist",
        "all wait in initialize, then end",
        "settings",
        _error("CONFIGURATION", frozenset({0}), NOBODY)
        | _error("NOT_STARTED", NOBODY)
        | UNKNOWN,
        rank=0,
        at="start",
        odd="one-too-many",
        odd_at=0,
        patience=110,
    ),
    Fault(
        "other-leader",
        "asks for the others at a port where nobody listens",
        "the others wait in initialize, then end",
        "stacks, sockets; the time-out of the others",
        _error("NOT_STARTED") | _error("CONFIGURATION") | CUT | UNKNOWN,
        at="start",
        odd="other-leader",
        odd_at=0,
        patience=110,
    ),
    Fault(
        "cut-at-start",
        "packets to and from the other ranks are dropped from the beginning",
        "all wait in initialize, then end",
        "sockets, probes; the time-out of the others",
        CUT | _error("NOT_STARTED"),
        at="start",
        prepare=injections.drop_packets(1),
        needs=(injections.iptables_why_not,),
        patience=110,
    ),
)
_ORDERS = (
    Fault(
        "extra-barrier",
        "meets at a barrier that the others do not have",
        "stands in another collective",
        "stacks; the page's step",
        OTHER_ORDER | MISMATCH,
        odd="extra-barrier",
    ),
    Fault(
        "extra-evaluation",
        "evaluates once more than the others",
        "Gloo aborts somebody, or all train on in disorder",
        "Gloo's words or stacks; page",
        OTHER_ORDER | MISMATCH,
        odd="extra-evaluation",
        dumps=True,
    ),
    Fault(
        "skipped-step",
        "leaves out one batch, and so is a step ahead",
        "stands, or Gloo aborts somebody, where the others meet next",
        "Gloo's words or stacks; the page's step",
        OTHER_ORDER | MISMATCH,
        odd="skipped-step",
        dumps=True,
    ),
)
_WAITS = (
    Fault(
        "lock-in-extension",
        "a thread keeps the interpreter's lock in native code for ever",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK"),
        odd="lock-in-extension",
    ),
    Fault(
        "http-upload",
        "waits for the answer of an HTTP server, without a time limit",
        "stands",
        "stacks, a silent socket",
        _not_queued("OTHER", "STORAGE_READ"),
        odd="http-upload",
        prepare=injections.settings_server,
    ),
    Fault(
        "database",
        "waits for a database that another connection has locked",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK", "RETRY"),
        odd="database",
    ),
    Fault(
        "exit-hook",
        "a hook at its exit waits for a server, after its last step",
        "the others wait in JAX's shutdown barrier, then end",
        "stacks; the barrier's time-out",
        _not_queued("STORAGE_READ", "OTHER", "SHUTDOWN"),
        at="end",
        odd="exit-hook",
        prepare=injections.settings_server,
        options=(f"--steps={LAST_STEP}",),
    ),
    Fault(
        "thread-at-exit",
        "waits at its exit for a thread that never ends, after its last step",
        "the others wait in JAX's shutdown barrier, then end",
        "stacks; the barrier's time-out",
        _not_queued("OTHER", "LOCK", "SHUTDOWN"),
        at="end",
        odd="thread-at-exit",
        options=(f"--steps={LAST_STEP}",),
    ),
)
_LINKS = (
    Fault(
        "half-and-half",
        "packets between two ranks and the two others are dropped",
        "all wait",
        "sockets, probes",
        HALVES,
        inject=injections.cut_in_halves,
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
    Fault(
        "one-way",
        "packets to the other ranks are dropped, those from them arrive",
        "all wait",
        "sockets, probes",
        CUT,
        inject=injections.drop_packets(1, chains=("OUTPUT",)),
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
    Fault(
        "large-packets",
        "packets of more than 600 bytes are dropped, as behind a tunnel with a wrong MTU",
        "all wait",
        "sockets",
        CUT,
        inject=injections.drop_packets(1, match="-m length --length 600:65535 "),
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
    Fault(
        "service-cut",
        "packets between it and the coordination service alone are dropped",
        "trains on, until the service misses its heartbeats and ends all",
        "the service's words; sockets",
        Truth(
            [Verdict("UNRECOVERABLE_ERROR", "COORDINATION_SERVICE")],
            [NOBODY, frozenset({ODD_RANK})],
        )
        | CUT
        | Truth([Verdict("NETWORKING_ISSUE", "DCN_LINK")], [NOBODY, frozenset({0, ODD_RANK})]),
        inject=injections.cut_from_service,
        needs=(injections.iptables_why_not,),
    ),
)
UNSEEN = _ENDS + _BEGINNINGS + _ORDERS + _WAITS + _LINKS
