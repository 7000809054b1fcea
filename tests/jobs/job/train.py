"""A small data-parallel training job in JAX: Gloo, optax, Grain, Orbax.

One process a rank. Like a real one it trains, evaluates, meets at a barrier and saves every few
steps; like a real one it breaks if it is told to. The options say of what a rank does otherwise
than the others (--odd, from --odd-at on): each lives in the function of the program that
would do it, so that stacks look as they do in the field.
"""

import atexit
import faulthandler
import importlib
import os
import signal
import sys
import threading
import time
from concurrent import futures

import jax
import jax.numpy as jnp
import numpy as np
import optax
import rapideye_progress as progress
from absl import flags
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import checkpoints
import data
import host_work
import mishaps
import rank

# Steps after which it meets at a barrier, evaluates and saves: how often, and the first. No two
# of them follow the same step.
BARRIERS = (10, 9)
EVALUATIONS = (15, 12)
SAVES = (20, 16)


def options():
    parser = rank.options()
    parser.add_argument("--restore-at", type=int, default=-1, help="step that goes back to a save")
    parser.add_argument(
        "--uploads", type=float, default=0, help="seconds that a thread still uploads at its end"
    )
    parser.add_argument(
        "--loop-in-thread", action="store_true", help="trains in a thread, for which the main waits"
    )
    parser.add_argument("--evaluation-seconds", type=float, default=25, help="of odd evaluations")
    parser.add_argument("--save-every", type=int, default=SAVES[0], help="steps")
    parser.add_argument(
        "--watchdog", type=float, default=0, help="seconds without a step after which it ends"
    )
    parser.add_argument("--line-every", type=int, default=1, help="steps")
    return parser.parse_args()


class Trainer:
    """The loop of one rank."""

    def __init__(self, asked):
        self._asked = asked
        self._odd = rank.Oddity(asked)
        self._mesh = Mesh(np.array(jax.devices()), ("data",))
        self._replicated = NamedSharding(self._mesh, PartitionSpec())
        self._sharded = NamedSharding(self._mesh, PartitionSpec("data"))
        self._optimizer = optax.adam(0.02 if asked.odd == "constant" else 0.01)
        self._batches = data.batches(asked.folder, asked.rank, asked.ranks)
        self._checkpoints = checkpoints.Checkpoints(asked.checkpoints, asked.rank)
        self._metrics = host_work.Metrics()
        self._settings = host_work.SettingsServer(asked.settings_server)
        self._history = []
        self._completed = rank.step_counter(asked.folder)
        self._train_step = jax.jit(self._step_of_training, donate_argnums=0)
        self._eval_step = jax.jit(lambda state, batch: self._loss(state["params"], batch))
        self._state = jax.jit(self._initial_state, out_shardings=self._replicated)()

    def run(self):
        first = self._on_mesh(next(self._batches))
        with progress.compile():
            self._train_step = self._train_step.lower(self._state, first).compile()
            if self._asked.odd == "slow-compilation":
                host_work.compile_for_long(jnp.ones(8))
            if self._odd.is_on("killed-in-compilation", 0):
                mishaps.kill_itself()
        if self._odd.is_on("settings-hang", 0):
            self._settings.read_shard()
        for number, batch in enumerate(progress.batches(self._batches)):
            if number >= self._asked.steps:
                break
            if self._odd.begins("early-stop", number):
                break
            self._iteration(number, self._on_mesh(batch))
        with progress.checkpoint():
            self._checkpoints.close()
            if self._asked.odd == "long-final-save":
                mishaps.write_in_pieces(self._asked.folder, 25)
        if self._asked.odd == "never-ends":
            self._settings.read_shard()
        if self._asked.odd == "exit-hook":
            atexit.register(self._settings.read_shard)
        if self._asked.odd == "thread-at-exit":
            mishaps.start_endless_thread()

    def _iteration(self, number, batch):
        if self._asked.watchdog:
            faulthandler.dump_traceback_later(self._asked.watchdog, exit=True)
        if self._odd.begins("skipped-step", number):
            return
        if self._odd.is_on("order", number):
            self._evaluate(number, batch)
        loss = self._train(number, batch)
        if number == self._asked.restore_at:
            with progress.checkpoint():
                self._state = self._checkpoints.restore(self._state)
        self._work_between_steps(number, loss)
        if rank.is_due(number, BARRIERS) and not self._odd.is_on("no-barrier", number):
            multihost_utils.sync_global_devices(f"step {number}")
        if self._odd.begins("extra-barrier", number):
            multihost_utils.sync_global_devices("extra")
        if self._odd.begins("extra-evaluation", number):
            self._evaluate(number, batch)
        if rank.is_due(number, EVALUATIONS) and not self._odd.is_on("no-evaluation", number):
            self._evaluate(number, batch)
        saves = rank.is_due(number, (self._asked.save_every, SAVES[1]))
        if saves and not self._odd.is_on("no-save", number):
            with progress.checkpoint():
                self._checkpoints.save(number, self._state)
                if self._odd.is_on("killed-in-save", number):
                    mishaps.kill_itself()

    def _train(self, number, batch):
        begun = time.monotonic()
        with progress.step(number):
            self._state, loss = self._train_step(self._state, batch)
            loss = float(loss)
            slow = 1.0 if self._odd.is_on("slow", number) else 0.0
            if self._odd.is_on("growing", number):
                slow = self._asked.step_seconds * min(4, (number - self._asked.odd_at) / 5)
            time.sleep(max(0.0, begun + self._asked.step_seconds + slow - time.monotonic()))
        seconds = time.monotonic() - begun
        if number % self._asked.line_every == 0:
            self._say(f"completed step: {number}, seconds: {seconds:.3f}, loss: {loss:.3f}")
        self._completed[0] += 1
        return loss

    def _evaluate(self, number, batch):
        with progress.eval():
            loss = float(self._eval_step(self._state, batch))
            if self._odd.is_on("long-evaluation", number):
                for _ in range(500):
                    loss = float(self._eval_step(self._state, batch))
                    time.sleep(0.05)
            if self._odd.is_on("local-evaluation", number):
                host_work.score_on_host(seconds=self._asked.evaluation_seconds)
            if self._odd.is_on("sparse-evaluation", number):
                for _ in range(int(5 * self._asked.evaluation_seconds)):
                    loss = float(self._eval_step(self._state, batch))
                    time.sleep(0.2)
        self._say(f"eval metrics after step: {number}, loss={loss:.3f}")

    def _say(self, line):
        if not self._asked.silent:
            print(line, flush=True)

    def _work_between_steps(self, number, loss):
        if self._odd.begins("lock", number):
            self._metrics.flush_in_background()
        self._metrics.record(loss=loss)
        if self._odd.begins("exception", number):
            raise FloatingPointError(f"loss is not finite at step {number}")
        if self._odd.begins("exception-beside-thread", number):
            mishaps.start_endless_thread()
            raise ValueError(f"batch {number} has no labels")
        if self._odd.begins("exit", number):
            sys.exit(0)
        if self._odd.begins("exit-at-once", number):
            os._exit(0)
        if self._odd.begins("memory", number):
            host_work.hold_history(self._history)
        if self._odd.begins("remote-read", number):
            self._settings.read_shard()
        if self._odd.begins("retry", number):
            self._settings.fetch_with_retry()
        if self._odd.begins("garbage", number):
            host_work.free_memory(1 << 20)
        if self._odd.begins("compilation", number):
            host_work.report_spectrum(jnp.ones(8))
        if self._odd.begins("host-callback", number):
            host_work.log_from_device(jnp.ones(8))
        if self._odd.begins("event-loop", number):
            mishaps.post_metrics(self._settings.address)
        if self._odd.begins("own-prefetch", number):
            mishaps.next_streamed_batch(self._settings.address)
        if self._odd.begins("http-upload", number):
            mishaps.upload_metrics(self._settings.address)
        if self._odd.begins("file-lock", number):
            mishaps.update_vocabulary(self._asked.folder)
        if self._odd.begins("database", number):
            mishaps.record_run(self._asked.folder)
        if self._asked.odd in mishaps.MISHAPS and self._odd.begins(self._asked.odd, number):
            mishaps.MISHAPS[self._asked.odd]()

    def _initial_state(self):
        width = 96 if self._asked.odd == "shapes" else 64
        keys = jax.random.split(jax.random.key(0), 2)
        params = {
            "w1": jax.random.normal(keys[0], (data.FEATURES, width)) * 0.1,
            "w2": jax.random.normal(keys[1], (width,)) * 0.1,
        }
        return {"params": params, "optimizer": self._optimizer.init(params)}

    @staticmethod
    def _loss(params, batch):
        hidden = jax.nn.relu(batch["x"] @ params["w1"])
        return jnp.mean((hidden @ params["w2"] - batch["y"]) ** 2)

    def _step_of_training(self, state, batch):
        loss, gradients = jax.value_and_grad(self._loss)(state["params"], batch)
        updates, optimizer = self._optimizer.update(gradients, state["optimizer"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "optimizer": optimizer}, loss

    def _on_mesh(self, batch):
        return jax.tree.map(
            lambda value: jax.make_array_from_process_local_data(self._sharded, value), batch
        )


def begin_oddly(asked):
    """What goes wrong before a rank joins the others."""
    if asked.odd == "slow-import":
        time.sleep(35)  # as an import from a file system far away
    if asked.odd == "import-error":
        importlib.import_module("tokenizer_of_another_version")
    if asked.odd == "import-hangs":
        mishaps.read_vocabulary(asked.folder)
    if asked.odd == "other-leader":
        host, _, port = asked.leader.rpartition(":")
        asked.leader = f"{host}:{int(port) + 1}"


def main():
    asked = options()
    flags.FLAGS.mark_as_parsed()  # Grain asks absl for its own
    rank.introduce(asked)
    begin_oddly(asked)
    rank.join(asked, processes=asked.ranks + (asked.odd == "one-too-many"))
    if asked.odd == "exits-on-sigterm":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    trainer = Trainer(asked)
    if asked.loop_in_thread:
        futures.ThreadPoolExecutor(1, "train").submit(trainer.run).result()
    else:
        trainer.run()
    if asked.odd == "abort":
        jax.distributed.shutdown()
        os.abort()
    if asked.uploads:
        jax.distributed.shutdown()
        threading.Thread(target=time.sleep, args=(asked.uploads,), name="upload").start()


if __name__ == "__main__":
    main()
