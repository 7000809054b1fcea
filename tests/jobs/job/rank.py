"""One rank of a job, whichever program trains: its options, how it joins the others, what it does
otherwise than they do, and what it leaves for the test."""

import argparse
import os
import time

import jax
import numpy as np


def options():
    """A parser with the options of every program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--leader", required=True, help="HOST:PORT of the coordination service")
    parser.add_argument("--folder", required=True, help="of this rank")
    parser.add_argument("--checkpoints", required=True, help="folder that all ranks share")
    parser.add_argument("--settings-server", default="127.0.0.1:9")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--step-seconds", type=float, default=0.2)
    parser.add_argument("--silent", action="store_true", help="writes no lines of its own")
    parser.add_argument("--timeout", type=int, default=15, help="seconds, of JAX's services")
    parser.add_argument("--odd", default="")
    parser.add_argument("--odd-at", type=int, default=0)
    return parser


def introduce(asked):
    """Leaves the number of this process."""
    with open(os.path.join(asked.folder, "pid"), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def join(asked, processes=None, rank=None):
    """Joins the job; with another count of processes, or as another rank, if it errs."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
        coordinator_address=asked.leader,
        num_processes=asked.ranks if processes is None else processes,
        process_id=asked.rank if rank is None else rank,
        initialization_timeout=asked.timeout,
        heartbeat_timeout_seconds=asked.timeout,
        shutdown_timeout_seconds=asked.timeout,
    )


class Oddity:
    """What this rank does otherwise than the others, and from which step on."""

    def __init__(self, asked):
        self.what = asked.odd
        self.since = asked.odd_at
        self._folder = asked.folder

    def is_on(self, what, number):
        return self.what == what and number >= self.since and self._told(number)

    def begins(self, what, number):
        return number == self.since and self.is_on(what, number)

    def _told(self, number):
        """Leaves the moment in a file; it stands in no log, which would tell too much."""
        with open(os.path.join(self._folder, "odd-since"), "a", encoding="ascii") as file:
            if file.tell() == 0:
                file.write(f"{time.time():.3f} step {number}\n")
        return True


def step_counter(folder):
    """The number of completed steps, for the test: memory of a file, which no system call shows."""
    path = os.path.join(folder, "steps")
    with open(path, "wb") as file:
        file.write(bytes(8))
    return np.memmap(path, dtype=np.int64, mode="r+", shape=1)


def is_due(number, schedule):
    """Whether something that is due every so often, for the first time then, is due."""
    every, first = schedule
    return number % every == first % every
