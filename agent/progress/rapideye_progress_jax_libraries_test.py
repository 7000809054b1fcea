#!/usr/bin/python3
"""Tests rapideye_progress.jax with JAX, Orbax, Grain and Flax themselves.

usage: rapideye_progress_jax_libraries_test.py FOLDER [TEST...]

FOLDER holds the virtual environments that tests/jobs makes; without one there the test is skipped.
RAPIDEYE_JAX_PYTHON names another Python that has these libraries.
"""

import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
NONE, COMPILE, INPUT, STEP, CHECKPOINT, EVAL = range(6)


def find_python(folder):
    named = os.environ.get("RAPIDEYE_JAX_PYTHON")
    made = glob.glob(os.path.join(folder, "python-*", "complete"))
    return named or (os.path.join(os.path.dirname(max(made)), "bin", "python3") if made else None)


class LoopTest(unittest.TestCase):
    """Each notes whatever is written to the page: (step, phase, in an input wait)."""

    def setUp(self):
        import rapideye_progress
        import rapideye_progress.jax as progress

        self.progress = progress
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.addCleanup(progress.uninstall)
        self.shown = []
        write = rapideye_progress.Page._write_words

        def noting(page, first, *words):
            if first == rapideye_progress._STEP:
                step, phase, _, wait = words[:4]  # the first write goes on to the devices
                self.shown.append((step, phase, wait > 0))
            write(page, first, *words)

        rapideye_progress.Page._write_words = noting
        self.addCleanup(setattr, rapideye_progress.Page, "_write_words", write)
        progress.install(os.path.join(self.directory.name, "page"))

    def manager(self):
        import orbax.checkpoint as ocp

        folder = os.path.join(self.directory.name, "checkpoints")
        return ocp, ocp.CheckpointManager(folder)

    def loader(self):
        import grain
        import numpy as np

        class Source:
            def __len__(self):
                return 32

            def __getitem__(self, index):
                time.sleep(0.001)
                return np.full(4, index, np.float32)

        sampler = grain.samplers.IndexSampler(num_records=32, num_epochs=1)
        return grain.DataLoader(
            data_source=Source(), sampler=sampler, operations=[grain.transforms.Batch(4)]
        )

    def test_the_program_of_the_page(self):
        with open(os.path.join(HERE, "JAX.md"), encoding="utf-8") as file:
            programs = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        exec(compile(programs[1], "JAX.md", "exec"), {"__name__": "__main__"})
        steps = [number for number, phase, _ in self.shown if phase == STEP]
        self.assertEqual(sorted(set(steps)), list(range(16)))
        for phase in ((-1, INPUT, True), (3, INPUT, True), (4, CHECKPOINT, False),
                      (9, CHECKPOINT, False), (7, EVAL, False), (7, EVAL, True)):
            self.assertIn(phase, self.shown)
        self.assertEqual(self.shown[-1][1], NONE)

    def test_a_loop_as_maxtext_has_it(self):
        import jax
        import numpy as np

        class MetricLogger:
            def reset_eval_metrics(self):
                pass

            def record_eval_metrics(self, step, metrics=None, eval_step_count=None):
                pass

            def buffer_and_write_metrics(self, metrics, step, is_training=True):
                pass

        module = types.ModuleType("MaxText.metric_logger")
        module.MetricLogger = MetricLogger
        sys.modules[module.__name__] = module
        self.addCleanup(sys.modules.pop, module.__name__)
        self.progress._hook(module.__name__, module)
        ocp, manager = self.manager()
        train_step = jax.jit(lambda state, batch: state + batch.mean())
        metrics = MetricLogger()
        state = np.float32(0)
        batches = iter(self.loader())
        for step in np.arange(0, 6):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                state = train_step(state, next(batches))
            manager.save(step, args=ocp.args.StandardSave({"state": state}))
            if step == 3:
                metrics.reset_eval_metrics()
                for count, batch in enumerate(self.loader()):
                    train_step(state, batch)
                    metrics.record_eval_metrics(step, metrics={})
                metrics.record_eval_metrics(step, eval_step_count=count)
                self.assertEqual(self.shown[-1], (3, NONE, False))
        manager.wait_until_finished()
        restored = manager.restore(5, args=ocp.args.StandardRestore({"state": state}))
        self.assertEqual(restored["state"], state)
        for step in range(6):
            for phase in ((step, STEP, False), (step, INPUT, True), (step, CHECKPOINT, False)):
                self.assertIn(phase, self.shown)
        self.assertIn((3, EVAL, True), self.shown)
        self.assertNotIn((2, EVAL, False), self.shown)
        self.assertEqual(self.shown[-1], (5, NONE, False))

    @unittest.skipUnless(importlib.util.find_spec("flax"), "there is no Flax in this environment")
    def test_a_loop_as_flaxs_examples_have_it(self):
        import jax
        from flax.training import checkpoints

        p_train_step = jax.jit(lambda state, batch: state + batch.mean())
        p_eval_step = self.progress.evaluation(jax.jit(lambda state, batch: state - batch.mean()))
        folder = os.path.join(self.directory.name, "flax")
        state = jax.numpy.zeros(())
        for step, batch in self.progress.steps(zip(range(3, 9), self.loader())):
            state = p_train_step(state, batch)
            if step == 5:
                p_eval_step(state, batch)
                checkpoints.save_checkpoint(folder, {"state": state}, step)
        self.assertEqual(list(checkpoints.restore_checkpoint(folder, None)), ["state"])
        p_eval_step.lower(state, batch)
        for phase in ((3, STEP, False), (8, STEP, False), (5, INPUT, True), (5, EVAL, False),
                      (5, CHECKPOINT, False)):
            self.assertIn(phase, self.shown)
        self.assertEqual(self.shown[-1][1], NONE)

    def test_everything_is_put_back(self):
        import jax
        import orbax.checkpoint as ocp

        self.assertTrue(hasattr(ocp.CheckpointManager.save, "rapideye_progress"))
        self.progress.uninstall()
        self.assertFalse(hasattr(ocp.CheckpointManager.save, "rapideye_progress"))
        self.assertNotIn("__enter__", vars(jax.profiler.StepTraceAnnotation))
        shown = len(self.shown)
        with jax.profiler.StepTraceAnnotation("train", step_num=1):
            self.assertEqual(len(list(self.loader())), 8)
        self.assertEqual(len(self.shown), shown)

    @unittest.skipUnless(
        importlib.util.find_spec("tensorflow"), "there is no TensorFlow in this environment"
    )
    def test_the_iterators_of_tf_data(self):
        import tensorflow as tf

        dataset = tf.data.Dataset.range(12).batch(4)
        with self.assertNoLogs("rapideye_progress"):
            for number, _ in self.progress.steps(enumerate(dataset)):
                self.assertEqual(self.shown[-1][:2], (number, STEP))
            for number, _ in self.progress.steps(enumerate(dataset.as_numpy_iterator())):
                self.assertEqual(self.shown[-1][:2], (number, STEP))
        waits = [step for step, phase, waits in self.shown if phase == INPUT and waits]
        self.assertGreaterEqual(len(waits), 6)

    @unittest.skipUnless(
        importlib.util.find_spec("torch"), "there is no PyTorch in this environment"
    )
    def test_the_data_loader_of_pytorch(self):
        import torch.utils.data

        loader = torch.utils.data.DataLoader(list(range(12)), batch_size=4, num_workers=1)
        with self.assertNoLogs("rapideye_progress"):
            for number, _ in self.progress.steps(enumerate(loader)):
                self.assertEqual(self.shown[-1][:2], (number, STEP))
        self.assertGreaterEqual(sum(phase == INPUT for _, phase, _ in self.shown), 3)

    def test_processes_of_a_loader_write_nothing(self):
        import grain
        import numpy as np
        from absl import flags

        flags.FLAGS(["program"])  # Grain's processes have some
        dataset = grain.MapDataset.source(np.arange(64)).map(lambda number: number * 2).batch(8)
        dataset = dataset.to_iter_dataset().mp_prefetch(grain.MultiprocessingOptions(1))
        with self.assertNoLogs("rapideye_progress"):
            batches = [batch for _, batch in self.progress.steps(enumerate(dataset))]
        self.assertEqual(np.concatenate(batches).tolist(), list(range(0, 128, 2)))
        self.assertIn((6, INPUT, True), self.shown)


def main():
    folder, *tests = sys.argv[1:]
    python = find_python(folder)
    if python is None:
        print("no virtual environment with JAX: tests/jobs has made none yet")
        return 77
    if os.environ.get("RAPIDEYE_IN_JAX_PYTHON") != python:
        environment = dict(os.environ, RAPIDEYE_IN_JAX_PYTHON=python, JAX_PLATFORMS="cpu")
        environment["PYTHONPATH"] = HERE
        return subprocess.run([python, __file__, folder, *tests], env=environment, check=False).returncode
    return not unittest.main(argv=[__file__, *tests], exit=False, verbosity=1).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
