"""The faults: what each does to the job, when, and what a verdict has to say of it.

A fault is done to the job from outside (`inject`, `prepare`) wherever that is possible, and
otherwise by the program itself (`odd`, of job/train.py).
"""

import dataclasses
import os
import signal
from collections.abc import Callable

import cgroups
import networks
from truth import NOBODY, Truth, Verdict

ODD_RANK = 2
# By then everything has happened once in health: two saves, two evaluations, four barriers.
STEADY = 45
# Of runs that end.
LAST_STEP = 70


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way in which a job breaks, or does not."""

    name: str
    does: str  # what happens in the odd rank
    effect: str  # what becomes of the job, if nobody does anything
    truth: Truth
    rank: int = ODD_RANK
    at: str = "steady"  # or "start", "end": when it comes
    odd: str = ""  # the option of the training program
    odd_at: int = STEADY
    prepare: Callable | None = None  # before the ranks start
    inject: Callable | None = None  # done to the running job
    options: tuple[str, ...] = ()  # of the training program, for every rank
    absent: frozenset[int] = NOBODY  # ranks that never start
    dumps: bool = False  # XLA writes the programs' texts
    needs: tuple[Callable, ...] = ()  # each says why it cannot be done here, or None

    @property
    def raises_nothing(self):
        return self.truth.verdicts[0].cause == "NO_HANG"


def _ended(detail):
    return Truth((Verdict("UNRECOVERABLE_ERROR", detail),))


def _not_queued(*activities):
    return Truth(tuple(Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", activity)
                       for activity in activities))


STOPPED = _ended("PROCESS_STOPPED")
EXITED = _ended("PROCESS_EXIT")
INPUT = Verdict("DATA_INPUT_STALL", "INPUT_PIPELINE")
EVERYBODY = frozenset(range(4))
OTHER_ORDER = Truth((Verdict("DIFFERENT_MODULE", "LAUNCH_ORDER"),
                     Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "BARRIER")))
# Words alone name nobody, and are believed by nobody.
MISMATCH = Truth((Verdict("DIFFERENT_MODULE"), Verdict("FINGERPRINT_MISMATCH")),
                 (frozenset({ODD_RANK}), NOBODY))
CUT = Truth((Verdict("NETWORKING_ISSUE", "DCN_HOST"), Verdict("NETWORKING_ISSUE", "DCN_PARTITION"),
             Verdict("NETWORKING_ISSUE", "DCN_LINK")))
RUNNING = Truth((Verdict("NO_HANG", "RUNNING"),), (NOBODY,))
RUNNING_OR_ENDED = Truth((Verdict("NO_HANG", "RUNNING"), Verdict("NO_HANG", "ENDED")), (NOBODY,))


def _signal(number):
    return lambda run: os.kill(run.rank(run.fault.rank).pid(), number)


def _freeze(run):
    run.groups.freeze(run.rank(run.fault.rank).pids())


def _limit_memory(run):
    run.groups.limit_memory([run.rank(run.fault.rank).pid()], beyond_bytes=256 << 20)


def _kill_loader(run):
    os.kill(run.rank(run.fault.rank).loader(), signal.SIGKILL)


def _storage(state):
    def inject(run):
        run.rank(run.fault.rank).write("storage", state)
    return inject


def _take_port(run):
    run.serve_silently(run.rank(0), run.leader_port)


def _settings_server(run):
    run.settings_server = run.serve_silently(run.rank(run.fault.rank), 7001)


def _mount_storage(run):
    run.mount_storage(run.rank(run.fault.rank))


def _stop_storage(run):
    run.storage.send_signal(signal.SIGSTOP)


def _fifo(run):
    path = os.path.join(run.checkpoints, f"input-{run.fault.rank}.json")
    os.rename(path, path + ".before")
    os.mkfifo(path)


def _cut(share):
    def inject(run):
        rank = run.rank(run.fault.rank)
        if share < 1:
            loss = f"-m statistic --mode random --probability {share} "
        else:
            loss = ""
        others = [other for other in run.ranks if other.number != rank.number]
        run.network.run(rank.host, " && ".join(
            f"iptables -A INPUT -s {other.address} {loss}-j DROP && "
            f"iptables -A OUTPUT -d {other.address} {loss}-j DROP" for other in others))
    return inject


def _iptables_why_not():
    return networks.why_not() or _missing("/usr/sbin/iptables", "iptables")


def _fuse_why_not():
    return (networks.why_not() or _missing("/dev/fuse", None)
            or _missing("/usr/lib/python3/dist-packages/fusepy.py", "python3-fusepy"))


def _missing(path, package):
    if os.path.exists(path):
        return None
    return f"{path} is missing" + (f": install {package}" if package else "")


_DEATHS = (
    Fault("sigkill", "killed by SIGKILL", "the others wait in JAX's shutdown barrier, then abort",
          EXITED, inject=_signal(signal.SIGKILL)),
    Fault("sigsegv", "killed by SIGSEGV", "as sigkill", EXITED, inject=_signal(signal.SIGSEGV)),
    Fault("out-of-memory", "takes memory until the kernel kills it", "as sigkill",
          _ended("OUT_OF_MEMORY"), odd="memory", inject=_limit_memory,
          needs=(cgroups.memory_why_not,)),
    Fault("exception", "raises in the loop; its process lives on in the shutdown barrier",
          "the others wait in the all-reduce", EXITED, odd="exception"),
    Fault("exit-0", "leaves the loop and ends with status 0", "as exception", EXITED, odd="exit"),
    Fault("leader-killed", "rank 0, which serves coordination, is killed", "all abort at once",
          Truth(EXITED.verdicts, (frozenset({0}),)), rank=0, inject=_signal(signal.SIGKILL)),
    Fault("source-raises", "the loader's source raises", "as exception",
          Truth((INPUT,) + EXITED.verdicts), inject=_storage("corrupt")),
    Fault("loader-killed", "the loader's process is killed", "as exception",
          Truth((INPUT,) + EXITED.verdicts), inject=_kill_loader),
)
_STOPS = (
    Fault("sigstop", "stopped by SIGSTOP", "the others wait until JAX's heartbeat ends them",
          STOPPED, inject=_signal(signal.SIGSTOP)),
    Fault("freezer", "frozen with its children by a control group", "as sigstop", STOPPED,
          inject=_freeze, needs=(cgroups.freezer_why_not,)),
)
_STARTS = (
    Fault("never-started", "never started", "the others wait in initialize, then end",
          _ended("NOT_STARTED"), at="start", absent=frozenset({ODD_RANK})),
    Fault("port-taken", "the port of the coordination service is another process's",
          "rank 0 ends, the others wait for it, then end",
          Truth((Verdict("UNRECOVERABLE_ERROR", "DEVICE_UNAVAILABLE"),), (frozenset({0}),)), rank=0,
          at="start", prepare=_take_port),
    Fault("other-shapes", "its layers are wider", "Gloo aborts whoever receives too much",
          MISMATCH, at="start", odd="shapes", odd_at=0, dumps=True),
)
_ORDERS = (
    Fault("programs-swapped", "evaluates before it trains", "Gloo aborts somebody", MISMATCH,
          odd="order", dumps=True),
    Fault("barrier-left-out", "passes a barrier by", "stands in another collective", OTHER_ORDER,
          odd="no-barrier"),
    Fault("evaluation-left-out", "passes an evaluation by", "Gloo aborts somebody",
          Truth(OTHER_ORDER.verdicts + MISMATCH.verdicts, MISMATCH.culprits),
          odd="no-evaluation", dumps=True),
    Fault("save-left-out", "passes a save by", "the others wait for it in Orbax", OTHER_ORDER,
          odd="no-save"),
)
_STORAGE = (
    Fault("save-hangs", "its file system for checkpoints hangs", "all wait in the save after",
          Truth(_not_queued("CHECKPOINT_SAVE").verdicts, (frozenset({ODD_RANK}), EVERYBODY)),
          prepare=_mount_storage, inject=_stop_storage, needs=(_fuse_why_not,)),
    Fault("save-blocked", "a file of the save blocks in open", "the others wait in Orbax",
          _not_queued("CHECKPOINT_SAVE"), inject=_fifo),
    Fault("restore-blocked", "a file of the restore blocks in open", "the others wait in Orbax",
          _not_queued("CHECKPOINT_RESTORE"), inject=_fifo, options=("--restore-at=55",)),
)
_HOST_WORK = (
    Fault("loader-starved", "reads of the loader's source never return",
          "it waits for input some batches later", Truth((INPUT,)), inject=_storage("gone")),
    Fault("lock", "two threads take two locks in opposite order", "stands", _not_queued("LOCK"),
          odd="lock"),
    Fault("remote-read", "reads from a server that never answers", "stands",
          _not_queued("STORAGE_READ", "OTHER"), odd="remote-read", prepare=_settings_server),
    Fault("endless-retry", "asks a server that is gone, again and again", "stands",
          _not_queued("RETRY"), odd="retry"),
    Fault("garbage-collection", "collects garbage without end", "stands",
          _not_queued("GARBAGE_COLLECTION"), odd="garbage"),
    Fault("long-compilation", "compiles a program for minutes", "stands, and goes on",
          _not_queued("COMPILATION"), odd="compilation"),
    Fault("never-shuts-down", "waits for a server after its last step",
          "the others wait in JAX's shutdown barrier, then end",
          _not_queued("STORAGE_READ", "OTHER", "SHUTDOWN"), at="end", odd="never-ends",
          prepare=_settings_server, options=(f"--steps={LAST_STEP}",)),
)
_LINKS = (
    Fault("link-cut", "packets to and from the other ranks are dropped", "all wait", CUT,
          inject=_cut(1), options=("--timeout=100",), needs=(_iptables_why_not,)),
    Fault("link-lossy", "nine packets of ten are lost", "stands for minutes", CUT,
          inject=_cut(0.9), options=("--timeout=100",), needs=(_iptables_why_not,)),
)
_NOTHING = (
    Fault("to-the-end", "nothing", "ends with status 0", RUNNING_OR_ENDED, inject=lambda run: None,
          options=("--steps=150",)),
    Fault("slow-rank", "a second more a step", "trains on", RUNNING, odd="slow"),
    Fault("sigterm-taken", "SIGTERM, which JAX takes", "trains on", RUNNING,
          inject=_signal(signal.SIGTERM)),
    Fault("abort-after-end", "aborts after the end", "the others have ended", RUNNING_OR_ENDED,
          at="end", odd="abort", options=(f"--steps={LAST_STEP}",)),
    Fault("other-constant", "another learning rate", "trains, wrongly", RUNNING, at="steady",
          odd="constant", inject=lambda run: None, dumps=True),
)
FAULTS = {fault.name: fault for fault in _DEATHS + _STOPS + _STARTS + _ORDERS + _STORAGE
          + _HOST_WORK + _LINKS + _NOTHING}
