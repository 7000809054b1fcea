"""The faults: what each does to the job, when, and what a verdict has to say of it.

A fault is done to the job from outside (`inject`, `prepare`) wherever that is possible, and
otherwise by the program itself (`odd`, of job/train.py).
"""

import signal

import cgroups
import injections
import networks
from fault import LAST_STEP, ODD_RANK, Fault
from healthy import HEALTHY
from other_program import OTHER_PROGRAM
from truth import NOBODY, Truth, Verdict
from unseen import UNSEEN


def _ended(detail, rank=ODD_RANK):
    return Truth([Verdict("UNRECOVERABLE_ERROR", detail)], [frozenset({rank})])


def _not_queued(*activities):
    return Truth(
        [Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", activity) for activity in activities]
    )


STOPPED = _ended("PROCESS_STOPPED")
EXITED = _ended("PROCESS_EXIT")
INPUT = Truth([Verdict("DATA_INPUT_STALL", "INPUT_PIPELINE")])
SAVING = Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "CHECKPOINT_SAVE")
EVERYBODY = frozenset(range(4))
OTHER_ORDER = Truth(
    [
        Verdict("DIFFERENT_MODULE", "LAUNCH_ORDER"),
        Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "BARRIER"),
    ]
)
# By the words of Gloo alone it is nobody's.
MISMATCH = Truth(
    [Verdict("DIFFERENT_MODULE"), Verdict("FINGERPRINT_MISMATCH")], [frozenset({ODD_RANK}), NOBODY]
)
CUT = Truth(
    [
        Verdict("NETWORKING_ISSUE", "DCN_HOST"),
        Verdict("NETWORKING_ISSUE", "DCN_PARTITION"),
        Verdict("NETWORKING_ISSUE", "DCN_LINK"),
    ]
)


_DEATHS = (
    Fault(
        "sigkill",
        "killed by SIGKILL",
        "the others wait in JAX's shutdown barrier, then abort",
        "exit",
        EXITED,
        inject=injections.send(signal.SIGKILL),
    ),
    Fault(
        "sigsegv",
        "killed by SIGSEGV",
        "as sigkill",
        "exit",
        EXITED,
        inject=injections.send(signal.SIGSEGV),
    ),
    Fault(
        "out-of-memory",
        "takes memory until the kernel kills it",
        "as sigkill",
        "exit, the kernel's log, the group's counter",
        _ended("OUT_OF_MEMORY"),
        odd="memory",
        inject=injections.limit_memory,
        needs=(cgroups.memory_why_not,),
    ),
    Fault(
        "exception",
        "raises in the loop; its process lives on in the shutdown barrier",
        "the others wait in the all-reduce",
        "traceback",
        EXITED,
        odd="exception",
    ),
    Fault(
        "exit-0",
        "leaves the loop and ends with status 0",
        "as exception",
        "shutdown in its stack or its page; the barrier's time-out",
        EXITED,
        odd="exit",
    ),
    Fault(
        "exit-0-at-once",
        "ends with status 0 amid the loop, without JAX's shutdown",
        "as sigkill",
        "exit",
        EXITED,
        odd="exit-at-once",
    ),
    Fault(
        "leader-killed",
        "rank 0, which serves coordination, is killed",
        "all abort at once",
        "exit",
        _ended("PROCESS_EXIT", 0),
        rank=0,
        inject=injections.send(signal.SIGKILL),
    ),
    Fault(
        "leader-host-lost",
        "rank 0's host and the coordinator are gone; another coordinator starts",
        "all abort at once",
        "who has not come, exits of the others",
        _ended("WORKER_LOST", 0) | _ended("PROCESS_EXIT", 0),
        rank=0,
        inject=injections.lose_leader_host,
    ),
    Fault(
        "source-raises",
        "the loader's source raises",
        "as exception",
        "traceback",
        INPUT | EXITED,
        inject=injections.records("corrupt"),
    ),
    Fault(
        "loader-killed",
        "the loader's process is killed",
        "as exception",
        "traceback, the loader's exit",
        INPUT | EXITED,
        inject=injections.kill_loader,
    ),
)
_STOPS = (
    Fault(
        "sigstop",
        "stopped by SIGSTOP",
        "the others wait until JAX's heartbeat ends them",
        "process state",
        STOPPED,
        inject=injections.send(signal.SIGSTOP),
    ),
    Fault(
        "freezer",
        "frozen with its children by a control group",
        "as sigstop",
        "the group's state; CPU time",
        STOPPED,
        inject=injections.freeze,
        needs=(cgroups.freezer_why_not,),
    ),
)
_STARTS = (
    Fault(
        "never-started",
        "never started",
        "the others wait in initialize, then end",
        "nobody connects",
        _ended("NOT_STARTED"),
        at="start",
        absent=frozenset({ODD_RANK}),
    ),
    Fault(
        "port-taken",
        "the port of the coordination service is another process's",
        "rank 0 ends, the others wait for it, then end",
        "traceback",
        _ended("DEVICE_UNAVAILABLE", 0),
        rank=0,
        at="start",
        prepare=injections.take_port,
    ),
    Fault(
        "other-shapes",
        "its layers are wider",
        "Gloo aborts whoever receives too much",
        "Gloo's words; programs' texts",
        MISMATCH,
        at="start",
        odd="shapes",
        odd_at=0,
        dumps=True,
    ),
)
_ORDERS = (
    Fault(
        "programs-swapped",
        "evaluates before it trains",
        "Gloo aborts somebody",
        "Gloo's words; stacks, page",
        MISMATCH,
        odd="order",
        dumps=True,
    ),
    Fault(
        "barrier-left-out",
        "passes a barrier by",
        "stands in another collective",
        "stacks; the page's step",
        OTHER_ORDER,
        odd="no-barrier",
    ),
    Fault(
        "evaluation-left-out",
        "passes an evaluation by",
        "Gloo aborts somebody",
        "Gloo's words or stacks; page",
        _not_queued("BARRIER") | MISMATCH,
        odd="no-evaluation",
        dumps=True,
    ),
    Fault(
        "save-left-out",
        "passes a save by",
        "the others wait for it in Orbax",
        "stacks; the page's phase",
        OTHER_ORDER,
        odd="no-save",
    ),
)
_STORAGE = (
    Fault(
        "save-hangs",
        "its file system for checkpoints hangs",
        "all wait in the save after",
        "stacks, state D; the page's phase",
        Truth([SAVING], [frozenset({ODD_RANK}), EVERYBODY]),
        prepare=injections.mount_storage,
        inject=injections.stop_storage,
        needs=(injections.fuse_why_not,),
    ),
    Fault(
        "save-blocked",
        "a file of the save blocks in open",
        "the others wait in Orbax",
        "stacks; the page's phase",
        _not_queued("CHECKPOINT_SAVE"),
        inject=injections.block_position_file,
    ),
    Fault(
        "restore-blocked",
        "a file of the restore blocks in open",
        "the others wait in Orbax",
        "stacks; the page's phase",
        _not_queued("CHECKPOINT_RESTORE"),
        inject=injections.block_position_file,
        options=("--restore-at=75",),
    ),
)
_HOST_WORK = (
    Fault(
        "loader-starved",
        "reads of the loader's source never return",
        "it waits for input some batches later",
        "stacks; the page's phase",
        INPUT,
        inject=injections.records("gone"),
    ),
    Fault(
        "lock",
        "two threads take two locks in opposite order",
        "stands",
        "stacks",
        _not_queued("LOCK"),
        odd="lock",
    ),
    Fault(
        "remote-read",
        "reads from a server that never answers",
        "stands",
        "stacks, a silent socket",
        _not_queued("STORAGE_READ", "OTHER"),
        odd="remote-read",
        prepare=injections.settings_server,
    ),
    Fault(
        "endless-retry",
        "asks a server that is gone, again and again",
        "stands",
        "stacks",
        _not_queued("RETRY"),
        odd="retry",
    ),
    Fault(
        "garbage-collection",
        "collects garbage without end",
        "stands",
        "stacks, CPU time",
        # An interpreter without symbols does not say that it collects.
        _not_queued("GARBAGE_COLLECTION", "OTHER"),
        odd="garbage",
    ),
    Fault(
        "long-compilation",
        "compiles a program for minutes",
        "stands, and goes on",
        "stacks, CPU time",
        _not_queued("COMPILATION"),
        odd="compilation",
    ),
    Fault(
        "never-shuts-down",
        "waits for a server after its last step",
        "the others wait in JAX's shutdown barrier, then end",
        "stacks; the barrier's time-out",
        _not_queued("STORAGE_READ", "OTHER", "SHUTDOWN"),
        at="end",
        odd="never-ends",
        prepare=injections.settings_server,
        options=(f"--steps={LAST_STEP}",),
    ),
)
_MISHAPS = (
    Fault(
        "disk-full",
        "a write of the save finds no space left",
        "as exception",
        "traceback",
        EXITED,
        inject=injections.fill_disk,
    ),
    Fault(
        "early-stop",
        "leaves the loop before the others, and ends well",
        "as exception",
        "shutdown in its stack or its page",
        EXITED | OTHER_ORDER,
        odd="early-stop",
    ),
    Fault(
        "exit-3",
        "ends with status 3 and no word, without JAX's shutdown",
        "as sigkill",
        "exit",
        EXITED,
        odd="exit-3",
    ),
    Fault(
        "stack-overflow",
        "a recursion in native code ends it by SIGSEGV",
        "as sigkill",
        "exit",
        EXITED,
        odd="stack-overflow",
    ),
    Fault(
        "signal-handler",
        "a handler of a signal waits for a lock that its own thread holds",
        "stands",
        "stacks",
        _not_queued("LOCK"),
        odd="signal-handler",
    ),
    Fault(
        "native-code",
        "a C extension keeps the interpreter's lock and never returns",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK"),
        odd="native-code",
    ),
    Fault(
        "command",
        "waits for a command that never ends",
        "stands",
        "stacks",
        _not_queued("OTHER"),
        odd="command",
    ),
    Fault(
        "pool-worker",
        "a worker of its process pool is killed, and the pool waits for it for ever",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK"),
        odd="pool-worker",
    ),
    Fault(
        "breakpoint",
        "stands in a debugger that nobody uses",
        "stands",
        "stacks",
        _not_queued("OTHER"),
        odd="breakpoint",
    ),
    Fault(
        "resolver",
        "waits for a name server that never answers",
        "stands",
        "stacks",
        _not_queued("STORAGE_READ", "OTHER"),
        odd="resolver",
        prepare=injections.silent_resolver,
        needs=(networks.why_not,),
    ),
    Fault(
        "thread-pool",
        "a task of a thread pool waits for another one, for which no thread is left",
        "stands",
        "stacks",
        _not_queued("LOCK"),
        odd="thread-pool",
    ),
    Fault(
        "full-pipe",
        "writes to a pipe that nobody reads",
        "stands",
        "stacks",
        _not_queued("OTHER"),
        odd="full-pipe",
    ),
    Fault(
        "dead-thread",
        "waits for batches of a thread that died of an exception",
        "stands",
        "traceback, stacks",
        EXITED | INPUT | _not_queued("LOCK", "OTHER"),
        odd="dead-thread",
    ),
    Fault(
        "file-lock",
        "waits for a lock of a file that another process has",
        "stands",
        "stacks",
        _not_queued("LOCK"),
        odd="file-lock",
    ),
    Fault(
        "endless-loop",
        "computes on its host without end",
        "stands",
        "stacks, CPU time",
        _not_queued("OTHER"),
        odd="endless-loop",
    ),
)
_WAITS = (
    Fault(
        "loop-in-thread",
        "the threads of the loops stand in a lock; all main threads wait for theirs",
        "stands",
        "stacks",
        # Only of a main thread the native side is read, which tells the lock.
        _not_queued("LOCK", "OTHER"),
        odd="lock",
        options=("--loop-in-thread",),
    ),
    Fault(
        "sleeping-hook",
        "sleeps in a function of its own",
        "stands",
        "stacks",
        _not_queued("OTHER"),
        odd="sleeping-hook",
    ),
    Fault(
        "prompt",
        "asks a question that nobody answers",
        "stands",
        "stacks",
        # To read from a pipe looks alike, whoever holds the other end.
        _not_queued("OTHER", "STORAGE_READ"),
        odd="prompt",
    ),
    Fault(
        "forked-child",
        "waits for a child that waits for a lock it took over",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK"),
        odd="forked-child",
    ),
    Fault(
        "event-loop",
        "awaits, in an event loop, a server that never answers",
        "stands",
        "stacks",
        _not_queued("OTHER", "STORAGE_READ"),
        odd="event-loop",
        prepare=injections.settings_server,
    ),
    Fault(
        "own-prefetch",
        "waits for a thread of its own that reads from a server that never answers",
        "stands",
        "stacks",
        INPUT | _not_queued("LOCK", "OTHER", "STORAGE_READ"),
        odd="own-prefetch",
        prepare=injections.settings_server,
    ),
    Fault(
        "host-callback",
        "its device has called a function of the program that never returns",
        "stands",
        "stacks",
        _not_queued("OTHER", "LOCK"),
        odd="host-callback",
    ),
    Fault(
        "loader-stopped",
        "the loader's process is stopped",
        "it waits for input some batches later",
        "process state, stacks; the page's phase",
        INPUT | STOPPED,
        inject=injections.stop_loader,
    ),
)
_LINKS = (
    Fault(
        "link-cut",
        "packets to and from the other ranks are dropped",
        "all wait",
        "sockets, probes",
        CUT,
        inject=injections.drop_packets(1),
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
    Fault(
        "link-lossy",
        "seven packets of ten are lost",
        "stands for minutes",
        "sockets, probes",
        CUT,
        inject=injections.drop_packets(0.7),
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
)
FAULTS = {
    fault.name: fault
    for fault in (
        *(_DEATHS + _STOPS + _STARTS + _ORDERS + _STORAGE),
        *(_HOST_WORK + _MISHAPS + _WAITS + _LINKS + UNSEEN + HEALTHY + OTHER_PROGRAM),
    )
}
