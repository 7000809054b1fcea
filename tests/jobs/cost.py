"""Measures what the agents beside a job cost: processor time, and memory that is theirs."""

import contextlib
import glob
import time

import processes


class Meter:
    """Measures the agents of the ranks from its construction on."""

    def __init__(self, ranks):
        self._ranks = ranks
        self._begun = time.monotonic()
        self._before = [_cpu_seconds(_beside(rank)) for rank in ranks]

    def read(self):
        """Of a rank: per cent of a core on average, and megabytes at most."""
        seconds = time.monotonic() - self._begun
        spent = [
            _cpu_seconds(_beside(rank)) - before for rank, before in zip(self._ranks, self._before)
        ]
        return {
            "cpuPercent": round(100 * sum(spent) / len(spent) / seconds, 2),
            "megabytes": round(max(_megabytes(_beside(rank)) for rank in self._ranks), 1),
            "overSeconds": round(seconds),
        }


def _beside(rank):
    """The processes of the agent: the supervisor and its own, without those of the training."""
    training = {rank.pid(), *processes.descendants(rank.pid())}
    return [rank.process.pid] + [
        pid for pid in processes.descendants(rank.process.pid) if pid not in training
    ]


def _cpu_seconds(pids):
    """Of their threads, to the nanosecond: the clock ticks of a process are too coarse."""
    total = 0
    for path in (path for pid in pids for path in glob.glob(f"/proc/{pid}/task/*/schedstat")):
        with contextlib.suppress(OSError):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def _megabytes(pids):
    """Resident; pages that its processes share count in each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    return total / 1024
