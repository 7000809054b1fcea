"""A training program that does otherwise whatever train.py does in one way.

It trains a small attention model under shard_map, gathers what it evaluates, lets rank 0 write
checkpoints by NumPy while the others wait at a barrier, and reads losses from the device every few
steps only, so that the loop runs ahead of its device. Only rank 1 takes the length of a step: all
others wait for it. Lines and batches come in the ways of --lines and --feed.
"""

import faulthandler
import json
import logging
import os
import signal
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
import rapideye_progress as progress
from absl import logging as absl_logging
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import feed
import host_work
import mishaps
import rank

METRICS = (5, 4)
EVALUATIONS = (15, 12)
SAVES = (20, 16)
WIDTH = 32
PACEMAKER = 1


def options():
    parser = rank.options()
    parser.add_argument("--lines", choices=LINES, default="absl", help="the form of its lines")
    parser.add_argument("--lines-of-first", action="store_true", help="only rank 0 writes lines")
    parser.add_argument("--feed", choices=feed.FEEDS, default="queue", help="of batches")
    return parser.parse_args()


class AbslLines:
    """Lines of absl, on standard error."""

    def __init__(self):
        absl_logging.use_absl_handler()
        absl_logging.set_verbosity(absl_logging.INFO)

    def step(self, number, loss):
        absl_logging.info("step %d: loss=%.4f, lr=0.1", number, loss)

    def say(self, text):
        absl_logging.info(text)


class BarLines:
    """A progress bar on standard error, which never ends its line."""

    _TOTAL = 10_000

    def step(self, number, loss):
        share = number / self._TOTAL
        bar = "\u2588" * int(10 * share)
        sys.stderr.write(
            f"\rtrain: {share:4.0%}|{bar:10}| {number}/{self._TOTAL} "
            f"[00:10<03:10,  5.02it/s, loss={loss:.3f}]"
        )
        sys.stderr.flush()

    def say(self, text):
        del text


class JsonLines:
    """An object a line."""

    def step(self, number, loss):
        record = {"time": time.time(), "split": "train", "step": number, "loss": round(loss, 4)}
        print(json.dumps(record), flush=True)

    def say(self, text):
        print(json.dumps({"time": time.time(), "message": text}), flush=True)


class LoggingLines:
    """Lines of the module logging, as its basic configuration has them."""

    def __init__(self):
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s"
        )
        self._logger = logging.getLogger("trainer")

    def step(self, number, loss):
        self._logger.info("Epoch 0 | Step %d | Loss %.4f", number, loss)

    def say(self, text):
        self._logger.info(text)


class BufferedLines:
    """Lines that stay in a buffer of eight kilobytes, as where a program prints into a file."""

    def __init__(self):
        self._output = open(1, "w", buffering=8192, closefd=False, encoding="utf-8")

    def step(self, number, loss):
        norms = (f"layer_{layer}/gradient_norm: {loss / layer:.6f}" for layer in range(1, 13))
        self._output.write(f"step {number} loss {loss:.4f} {', '.join(norms)}\n")

    def say(self, text):
        self._output.write(text + "\n")


class NoLines:
    """None at all."""

    def step(self, number, loss):
        """Is not told."""

    def say(self, text):
        """Is not told."""


LINES = {
    "absl": AbslLines,
    "bar": BarLines,
    "json": JsonLines,
    "logging": LoggingLines,
    "buffered": BufferedLines,
    "none": NoLines,
}


def loss_of(params, tokens):
    """Of predicting the next token by one layer of attention."""
    embedded = params["embed"][tokens[:, :-1]]
    scores = jax.nn.softmax((embedded @ params["mix"]) @ jnp.swapaxes(embedded, 1, 2))
    logits = (scores @ embedded) @ params["out"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def update(params, tokens):
    """Of each device: its gradients' mean with those of all others."""
    loss, gradients = jax.value_and_grad(loss_of)(params, tokens)
    loss, gradients = jax.lax.pmean((loss, gradients), "hosts")
    return jax.tree.map(lambda value, slope: value - 0.1 * slope, params, gradients), loss


class Program:
    """The loop of one rank."""

    def __init__(self, asked, batches):
        self._asked = asked
        self._odd = rank.Oddity(asked)
        self._batches = batches
        mesh = Mesh(np.array(jax.devices()), ("hosts",))
        self._sharded = NamedSharding(mesh, PartitionSpec("hosts"))
        everywhere, apart = PartitionSpec(), PartitionSpec("hosts")
        self._update = jax.jit(
            jax.shard_map(
                update,
                mesh=mesh,
                in_specs=(everywhere, apart),
                out_specs=(everywhere, everywhere),
                check_vma=False,
            )
        )
        self._score = jax.jit(loss_of)
        keys = jax.random.split(jax.random.key(1), 3)
        shapes = {
            "embed": (feed.VOCABULARY, WIDTH),
            "mix": (WIDTH, WIDTH),
            "out": (WIDTH, feed.VOCABULARY),
        }
        first = {
            name: np.asarray(jax.random.normal(key, shape)) * 0.1
            for key, (name, shape) in zip(keys, shapes.items())
        }
        self._params = jax.device_put(first, NamedSharding(mesh, everywhere))
        silent = asked.silent or (asked.lines_of_first and asked.rank != 0)
        self._lines = NoLines() if silent else LINES[asked.lines]()
        self._settings = host_work.SettingsServer(asked.settings_server)
        self._completed = rank.step_counter(asked.folder)

    def run(self):
        for number, batch in enumerate(progress.batches(self._batches)):
            if number >= self._asked.steps or self._odd.begins("fewer-batches", number):
                break
            self._iteration(number, batch)
        if self._asked.odd != "fewer-batches":
            self._save_checkpoint(self._asked.steps)

    def _iteration(self, number, batch):
        with progress.step(number):
            shards = jax.make_array_from_process_local_data(self._sharded, batch)
            self._params, loss = self._update(self._params, shards)
            if self._asked.rank == PACEMAKER:
                time.sleep(self._asked.step_seconds)
            if rank.is_due(number, METRICS):
                self._lines.step(number, float(loss))
        self._completed[0] += 1
        self._work_of_host(number)
        if rank.is_due(number, EVALUATIONS):
            self._evaluate(number, batch)
        if rank.is_due(number, SAVES):
            self._save_checkpoint(number)

    def _evaluate(self, number, batch):
        with progress.eval():
            local = jax.tree.map(lambda value: value.addressable_data(0), self._params)
            scores = multihost_utils.process_allgather(self._score(local, batch))
        self._lines.say(f"evaluation after {number}: {np.mean(scores):.4f}")

    def _save_checkpoint(self, number):
        with progress.checkpoint():
            if self._asked.rank == 0:
                host_values = jax.device_get(self._params)
                path = os.path.join(self._asked.checkpoints, "params.npz")
                with open(path, "wb") as file:
                    np.savez(file, **host_values)
                    os.fsync(file.fileno())
            name = "another" if self._odd.is_on("barrier-name", number) else f"saved {number}"
            multihost_utils.sync_global_devices(name)

    def _work_of_host(self, number):
        odd = self._odd
        with open(os.path.join(self._asked.folder, "control"), "a", encoding="ascii"):
            pass  # whoever wants the loop to stop writes there
        if odd.begins("stop-file", number):
            mishaps.look_for_stop_file(os.path.join(self._asked.checkpoints, "steps"))
        if odd.begins("read-of-all", number):
            self._settings.read_shard()
        if odd.begins("short-outage", number):
            mishaps.fetch_after_outage(self._settings, seconds=8)
        if odd.is_on("caught-errors", number) and number % 5 == 0:
            mishaps.log_caught_error(number)
        if odd.is_on("commands", number):
            subprocess.run(["/bin/sh", "-c", f"exit {number % 2}"], check=False)
        if odd.is_on("uneven", number) and number % 7 == self._asked.rank:
            time.sleep(2.5)
        if self._asked.odd in mishaps.MISHAPS and odd.begins(self._asked.odd, number):
            mishaps.MISHAPS[self._asked.odd]()


def handle_signals(asked):
    """What an operator's SIGUSR1 does."""
    if asked.odd == "handler-sleeps":
        signal.signal(signal.SIGUSR1, lambda *_: mishaps.wait_for_quota())
    if asked.odd == "stacks-printed":
        faulthandler.register(signal.SIGUSR1, all_threads=True)


def main():
    asked = options()
    rank.introduce(asked)
    handle_signals(asked)
    batches = feed.FEEDS[asked.feed](asked.folder, asked.rank)
    rank.join(asked, rank=asked.rank - 1 if asked.odd == "rank-twice" else None)
    Program(asked, batches).run()


if __name__ == "__main__":
    main()
