"""Starts processes that do not outlive this one, and finds and ends all that came of them."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans():
    """From now on whatever our descendants leave behind becomes our child."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def exit_on_signals():
    """What ends us from outside is an exit like any other, so that we clean up; once."""
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def leave(number, _frame):
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        sys.exit(128 + number)

    for one in signals:
        signal.signal(one, leave)


def start(command, output, death=signal.SIGKILL, **options):
    """A process with standard output and error in the file `output`; the signal `death` reaches
    it when this thread ends."""
    with open(output, "ab") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, death, 0, 0, 0),
            **options,
        )


def parents():
    """The parent of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    return found


def descendants(pid):
    """Of the process `pid`, without itself."""
    parent_of = parents()
    found = []
    frontier = {pid}
    while frontier:
        frontier = {child for child, parent in parent_of.items() if parent in frontier}
        found += frontier
    return found


def children(pid):
    return [child for child, parent in parents().items() if parent == pid]


def reap():
    """Takes notice of children that have ended."""
    for pid in children(os.getpid()):
        _reaped(pid)


def command_line(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    return ""


def end_all(patience=20.0):
    """Ends every descendant; those still there after `patience` seconds are returned."""
    deadline = time.monotonic() + patience
    while True:
        left = [pid for pid in descendants(os.getpid()) if not _reaped(pid)]
        if not left or time.monotonic() > deadline:
            return left
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _reaped(pid):
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False
