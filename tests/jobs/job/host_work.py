"""What a training program does on its host between steps: metrics, settings, memory."""

import collections
import gc
import socket
import threading
import time

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np


class Metrics:
    """Sums that a second thread writes out; each lock guards one of both."""

    def __init__(self):
        self._sums_lock = threading.Lock()
        self._writer_lock = threading.Lock()
        self._sums = {}
        self._flusher = None

    def record(self, **values):
        with self._sums_lock:
            for name, value in values.items():
                self._sums[name] = self._sums.get(name, 0.0) + value
            with self._writer_lock:
                pass

    def flush_in_background(self):
        """A flush that takes both locks in the other order, and waits for each."""
        holds = threading.Event()
        self._flusher = threading.Thread(target=self._flush, args=(holds,), daemon=True)
        self._flusher.start()
        holds.wait()

    def _flush(self, holds):
        with self._writer_lock:
            holds.set()
            time.sleep(0.5)
            with self._sums_lock:
                self._sums.clear()


class SettingsServer:
    """Settings of the next steps, on a server that all hosts ask."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))

    @property
    def address(self):
        return self._address

    def read_shard(self):
        """Asks once; waits for the answer as long as it takes."""
        with socket.create_connection(self._address) as connection:
            connection.sendall(b"GET shard\n")
            return connection.recv(4096)

    def fetch_with_retry(self):
        """Asks until there is an answer."""
        while True:
            try:
                with socket.create_connection(self._address, timeout=1) as connection:
                    connection.sendall(b"GET settings\n")
                    return connection.recv(4096)
            except OSError:
                time.sleep(0.5)


def free_memory(limit_bytes):
    """Collects garbage until the process is small enough."""
    while resident_bytes() > limit_bytes:
        gc.collect()


def score_on_host(seconds):
    """Scores what the model has written, word by word, as evaluations of texts do: each host for
    itself, without its device, the other hosts, or a file."""
    end = time.monotonic() + seconds
    scores = collections.Counter()
    while time.monotonic() < end:
        words = [str(number * 7919 % 1013) for number in range(2000)]
        scores.update(zip(words, words[1:]))
    return scores.most_common(1)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def report_spectrum(values):
    """A program that folds a constant for minutes while it is compiled."""
    signal = np.random.default_rng(1).standard_normal(100_000).astype(np.float32)

    def spectrum(x):
        constant = jnp.asarray(signal)
        return x.sum() + jnp.convolve(constant, constant, mode="full").sum()

    return jax.jit(spectrum)(values)


def compile_for_long(values):
    """Programs whose compilations together take half a minute of a core."""

    def unrolled(x, first):
        for number in range(first, first + 120):
            x = jnp.sin(x) * number + jnp.roll(x, number)
        return x.sum()

    for first in range(4):
        jax.jit(unrolled, static_argnums=1).lower(values, first).compile()


def log_from_device(values):
    """The device calls a function of the program that never returns."""

    def upload_histogram(_values):
        threading.Event().wait()

    def report(x):
        jax.experimental.io_callback(upload_histogram, None, x, ordered=True)
        return x.sum()

    return float(jax.jit(report)(values))


def hold_history(history):
    """Keeps a copy of everything, page by page, until there is no memory left."""
    while True:
        history.append(np.ones(4 << 20, dtype=np.uint8))
        time.sleep(0.01)
