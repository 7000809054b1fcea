"""Faults, and healthy jobs, of another program (job/plain.py): nothing of Orbax, Grain or a
checkpoint of each host, a loop that runs ahead of its device, and other lines.

Their truth was written, by classifier/CAUSES.md, before any verdict on them was read.
"""

import signal

import injections
from common_truths import (
    CUT,
    EVERYBODY,
    EXITED,
    INPUT,
    LEADER,
    MISMATCH,
    ODD,
    OTHER_ORDER,
    PREEMPTED,
    TWO,
    UNKNOWN,
    error,
    not_queued,
)
from fault import LAST_STEP, STEADY, Fault
from healthy import ENDED, RUNNING
from truth import NOBODY, Truth, Verdict


def _plain(*facts, **more):
    return Fault(*facts, program="plain", **more)


def _all(odd):
    """The options that make all ranks odd."""
    return (f"--odd={odd}", f"--odd-at={STEADY}")


INPUT_OF_ALL = Truth([Verdict("DATA_INPUT_STALL", "INPUT_PIPELINE")], [EVERYBODY])

_ENDS = (
    _plain(
        "check-fails",
        "a check of absl fails, and ends it by SIGABRT",
        "as sigkill",
        "exit, traceback",
        EXITED,
        odd="check-fails",
    ),
    _plain(
        "truncated-index",
        "reads a mapped file that has been shortened, and gets SIGBUS",
        "as sigkill",
        "exit",
        EXITED,
        odd="truncated-index",
    ),
    _plain(
        "interrupted",
        "somebody interrupts it by SIGINT",
        "as exception",
        "traceback",
        EXITED | PREEMPTED,
        inject=injections.send(signal.SIGINT),
        options=("--lines=logging",),
    ),
    _plain(
        "hangup",
        "its terminal is gone: SIGHUP ends it",
        "as sigkill",
        "exit",
        EXITED | PREEMPTED,
        inject=injections.send(signal.SIGHUP),
        options=("--lines=json",),
    ),
    _plain(
        "quota",
        "rank 0, which writes the checkpoints, may write no more",
        "as exception",
        "traceback",
        error("PROCESS_EXIT", LEADER),
        rank=0,
        inject=injections.limit("fsize", 4096),
    ),
    _plain(
        "no-descriptors",
        "may open no more files",
        "as exception",
        "traceback",
        EXITED,
        inject=injections.limit("nofile", 3),
        options=("--lines=bar",),
    ),
    _plain(
        "barrier-name",
        "comes to another barrier than the others, and JAX raises on all",
        "all end",
        "tracebacks",
        # That JAX raises on all was not known before the first run.
        EXITED | OTHER_ORDER | MISMATCH | error("PROCESS_EXIT", EVERYBODY),
        odd="barrier-name",
    ),
    _plain(
        "fewer-batches",
        "has fewer batches than the others, and leaves the loop",
        "as exception",
        "shutdown in its stack or its page",
        EXITED | OTHER_ORDER,
        odd="fewer-batches",
        options=("--lines-of-first",),
    ),
)
_FEEDS = (
    _plain(
        "queue-worker-killed",
        "the process that fills its queue is killed, and the queue waits for ever",
        "it waits for input some batches later",
        "the child's exit; stacks",
        INPUT | EXITED,
        inject=injections.kill_loader,
        options=("--lines-of-first",),
    ),
    _plain(
        "pipe-starved",
        "the command that writes its batches reads from a storage that does not answer",
        "it waits for input",
        "stacks",
        INPUT | not_queued("INPUT", "STORAGE_READ", "OTHER"),
        inject=injections.records("gone"),
        options=("--feed=pipe", "--lines=bar"),
    ),
    _plain(
        "pipe-ends",
        "the command that writes its batches is killed, and its pipe ends",
        "as exception",
        "traceback",
        INPUT | EXITED,
        inject=injections.kill_loader,
        options=("--feed=pipe", "--lines=json"),
    ),
    _plain(
        "task-starved",
        "the task of its event loop that reads ahead gets no answer",
        "it waits for input some batches later",
        "stacks",
        INPUT | not_queued("INPUT", "STORAGE_READ", "OTHER", "LOCK"),
        inject=injections.records("gone"),
        options=("--feed=task", "--lines=logging"),
    ),
    _plain(
        "all-starved",
        "the storage of all loaders does not answer any more",
        "all wait for input",
        "stacks",
        INPUT_OF_ALL,
        inject=injections.records_of_all("gone"),
    ),
)
_WAITS = (
    _plain(
        "handler-sleeps",
        "a handler of a signal sleeps for ever, above whatever it interrupted",
        "stands",
        "stacks",
        not_queued("OTHER"),
        odd="handler-sleeps",
        inject=injections.send(signal.SIGUSR1),
    ),
    _plain(
        "stopped-reader",
        "prints into a pipe whose reader is stopped",
        "stands",
        "stacks",
        not_queued("OTHER"),
        odd="stopped-reader",
    ),
    _plain(
        "polled-lock",
        "tries to lock a file again and again, without end",
        "stands",
        "stacks",
        not_queued("LOCK", "RETRY", "OTHER"),
        odd="polled-lock",
        options=("--lines=logging",),
    ),
    _plain(
        "dead-writer",
        "puts into a full queue whose consumer has ended",
        "stands",
        "stacks",
        not_queued("LOCK", "OTHER"),
        odd="dead-writer",
        options=("--lines=buffered",),
    ),
    _plain(
        "stop-file",
        "looks for a file on a file system that hangs",
        "stands",
        "stacks, state D",
        not_queued("STORAGE_READ", "OTHER"),
        odd="stop-file",
        prepare=injections.mount_storage,
        inject=injections.stop_storage,
        needs=(injections.fuse_why_not,),
    ),
    _plain(
        "writer-blocked",
        "rank 0 blocks in the open of its checkpoint",
        "the others wait at the barrier of the save",
        "stacks; the page's phase",
        not_queued("CHECKPOINT_SAVE", culprits=(LEADER,)),
        rank=0,
        inject=injections.block_params_file,
        options=("--lines=none",),
    ),
    _plain(
        "read-of-all",
        "all ask a server that never answers",
        "all stand",
        "stacks",
        not_queued("STORAGE_READ", "OTHER", culprits=(EVERYBODY,)) | UNKNOWN,
        prepare=injections.settings_server,
        inject=injections.nothing,
        options=_all("read-of-all"),
    ),
    _plain(
        "suspended",
        "all are stopped by SIGSTOP, as by a scheduler that suspends the job",
        "all stand",
        "process states",
        error("PROCESS_STOPPED", EVERYBODY),
        inject=injections.suspend,
    ),
    _plain(
        "two-sleep",
        "it and another one sleep in a function of their own",
        "stands",
        "stacks",
        not_queued("OTHER", culprits=(TWO,)),
        odd="sleeping-hook",
        also_odd=(3,),
    ),
)
_OTHERS = (
    _plain(
        "cable-cut",
        "its network is down",
        "all wait",
        "the agent is cut off, too",
        CUT | error("WORKER_LOST"),
        inject=injections.unplug,
        options=("--timeout=100",),
        needs=(injections.iptables_why_not,),
    ),
    _plain(
        "rank-twice",
        "comes as rank 1, which is there already",
        "all wait in initialize, then end",
        "the service's words",
        Truth(
            [
                Verdict("UNRECOVERABLE_ERROR", "CONFIGURATION"),
                Verdict("UNRECOVERABLE_ERROR", "NOT_STARTED"),
                Verdict("UNRECOVERABLE_ERROR", "PROCESS_EXIT"),
            ],
            [ODD, NOBODY],
        )
        | UNKNOWN,
        at="start",
        odd="rank-twice",
        odd_at=0,
        patience=110,
    ),
)
_HEALTHY = (
    _plain(
        "plain-to-the-end",
        "nothing",
        "ends with status 0",
        "",
        RUNNING | ENDED,
        inject=injections.nothing,
        options=("--steps=240", "--lines=bar"),
    ),
    _plain(
        "buffered-lines",
        "its lines stay in a buffer of 8 KB",
        "trains on",
        "",
        RUNNING,
        inject=injections.nothing,
        options=("--lines=buffered", "--feed=pipe"),
    ),
    _plain(
        "lines-of-one",
        "only rank 0 writes lines",
        "trains on",
        "",
        RUNNING,
        inject=injections.nothing,
        options=("--lines-of-first", "--lines=logging", "--feed=task"),
    ),
    _plain(
        "caught-errors",
        "logs errors with their tracebacks, and survives them",
        "trains on",
        "",
        RUNNING,
        odd="caught-errors",
        options=("--lines=json",),
    ),
    _plain(
        "short-outage",
        "waits 8 s for a server that is gone, and goes on without",
        "trains on",
        "",
        RUNNING,
        odd="short-outage",
    ),
    _plain(
        "commands",
        "runs a command in every step, of which half fail",
        "trains on",
        "",
        RUNNING,
        odd="commands",
        options=("--lines=none",),
    ),
    _plain(
        "uneven",
        "now one rank, now another takes 2.5 s more",
        "trains on",
        "",
        RUNNING,
        inject=injections.nothing,
        options=_all("uneven"),
    ),
    _plain(
        "stacks-printed",
        "an operator lets it print the stacks of all threads",
        "trains on",
        "",
        RUNNING,
        odd="stacks-printed",
        inject=injections.send(signal.SIGUSR1),
    ),
    _plain(
        "suspended-briefly",
        "all are stopped for 8 s",
        "trains on",
        "",
        RUNNING,
        inject=injections.suspend_briefly,
    ),
    _plain(
        "plain-ends-early",
        "all end after the last step, one of them with a command that goes on",
        "ends with status 0",
        "",
        RUNNING | ENDED,
        at="end",
        inject=injections.nothing,
        options=(f"--steps={LAST_STEP}", "--feed=pipe", "--lines=none"),
    ),
)
OTHER_PROGRAM = _ENDS + _FEEDS + _WAITS + _OTHERS + _HEALTHY
