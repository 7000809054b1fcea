"""Batches of tokens, made beside the loop: by a process over a queue, by a command over a pipe, or
by a task of an event loop."""

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np

import source

VOCABULARY = 256
LENGTH = 33
BATCH_OF_A_HOST = 4


def tokens(records, rank, number):
    """The batch of that number."""
    records.read_block(number)
    random = np.random.default_rng([rank, number])
    return random.integers(0, VOCABULARY, (BATCH_OF_A_HOST, LENGTH), dtype=np.int32)


class Feed:
    """Batches without an end."""

    def __iter__(self):
        return self

    def __next__(self):
        raise NotImplementedError


class QueueFeed(Feed):
    """A forked process puts batches into a queue of the standard library; nobody looks after it."""

    def __init__(self, folder, rank):
        context = multiprocessing.get_context("fork")
        self._queue = context.Queue(4)
        worker = context.Process(target=self._work, args=(folder, rank), daemon=True)
        worker.start()
        _introduce(folder, worker.pid)

    def __next__(self):
        return self._queue.get()

    def _work(self, folder, rank):
        records = source.Source(folder)
        number = 0
        while True:
            self._queue.put(tokens(records, rank, number))
            number += 1


class PipeFeed(Feed):
    """A command writes batches to a pipe."""

    def __init__(self, folder, rank):
        self._command = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, os.path.realpath(__file__), folder, str(rank)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        _introduce(folder, self._command.pid)

    def __next__(self):
        return pickle.load(self._command.stdout)


class TaskFeed(Feed):
    """A task of an event loop reads ahead; the training loop runs the event loop meanwhile."""

    def __init__(self, folder, rank):
        self._loop = asyncio.new_event_loop()
        self._ready = asyncio.Queue(4)
        self._task = self._loop.create_task(self._produce(source.Source(folder), rank))

    def __next__(self):
        return self._loop.run_until_complete(self._ready.get())

    async def _produce(self, records, rank):
        number = 0
        while True:
            await self._ready.put(await asyncio.to_thread(tokens, records, rank, number))
            number += 1


FEEDS = {"queue": QueueFeed, "pipe": PipeFeed, "task": TaskFeed}


def _introduce(folder, pid):
    """Leaves the number of the process that reads ahead, for the test."""
    with open(os.path.join(folder, "loader"), "w", encoding="ascii") as file:
        file.write(str(pid))


def main():
    _, folder, rank = sys.argv
    records = source.Source(folder)
    number = 0
    while True:
        pickle.dump(tokens(records, int(rank), number), sys.stdout.buffer)
        sys.stdout.buffer.flush()
        number += 1


if __name__ == "__main__":
    main()
