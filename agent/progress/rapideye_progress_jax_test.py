#!/usr/bin/python3
"""Tests of rapideye_progress.jax with stand-ins for the libraries: what is shown in whose hooks, and
that nothing of the program changes."""

import os
import struct
import subprocess
import sys
import tempfile
import threading
import types
import unittest

import rapideye_progress
import rapideye_progress.jax as progress

NONE, COMPILE, INPUT, STEP, CHECKPOINT, EVAL = range(6)


class StandIn:
    """A module in place of a library's, made of classes and functions."""

    def __init__(self, name, **members):
        self.module = types.ModuleType(name)
        vars(self.module).update(members)
        sys.modules[name] = self.module


class CompiledAnnotation:
    def __init__(self, name, **kwargs):
        self.name = name
        self.kwargs = kwargs

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def step_annotation():
    class StepTraceAnnotation(CompiledAnnotation):
        def __init__(self, name, **kwargs):
            super().__init__(name, _r=1, **kwargs)

    return StepTraceAnnotation


class HooksTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "page")
        self.modules = dict(sys.modules)
        self.addCleanup(self.restore_modules)
        self.addCleanup(progress.uninstall)
        progress._complained.clear()

    def restore_modules(self):
        for name in set(sys.modules) - set(self.modules):
            del sys.modules[name]

    def install(self):
        progress.install(self.path)

    def shown(self):
        words = struct.unpack("<5q", os.pread(progress._loop.page._descriptor, 40, 80))
        return words[1], words[2], words[4] > 0

    def test_devices_are_told_once_the_program_has_opened_them(self):
        opened = []
        devices = [types.SimpleNamespace(id=i, slice_index=i // 4) for i in range(8)]
        jax = StandIn("jax", local_devices=lambda: devices[6:], devices=lambda: devices)
        StandIn("jax._src.xla_bridge", backends_are_initialized=lambda: bool(opened))
        annotated = StandIn("jax.profiler", StepTraceAnnotation=step_annotation()).module
        self.install()
        told = lambda: struct.unpack(
            "<5q", os.pread(progress._loop.page._descriptor, 40, 120))
        with annotated.StepTraceAnnotation("train", step_num=0):
            pass
        self.assertEqual(told(), (0, 0, 0, 0, 0))
        opened.append(True)
        with annotated.StepTraceAnnotation("train", step_num=1):
            self.assertEqual(told(), (0, 0, 0, 0, 0))
        self.assertEqual(told(), (2, 4, 8, 6, 7))
        jax.module.local_devices = None  # they are not asked for again
        with annotated.StepTraceAnnotation("train", step_num=2):
            pass
        self.assertEqual(told(), (2, 4, 8, 6, 7))

    def test_the_numbers_of_a_slice_are_a_range_without_others(self):
        devices = [types.SimpleNamespace(id=i, slice_index=i % 2) for i in range(4)]
        StandIn("jax", local_devices=lambda: devices[:1], devices=lambda: devices)
        self.assertEqual(progress._slice_numbers(), (0, 0))
        for device in devices:
            device.slice_index = device.id // 2
        self.assertEqual(progress._slice_numbers(), (0, 2))
        del devices[0].slice_index  # a GPU
        self.assertEqual(progress._slice_numbers(), (0, 0))

    def test_steps_of_annotations(self):
        jax = StandIn("jax.profiler", StepTraceAnnotation=step_annotation()).module
        self.install()
        with jax.StepTraceAnnotation("train", step_num=7) as annotation:
            self.assertEqual(self.shown(), (7, STEP, False))
        self.assertEqual(annotation.kwargs, {"_r": 1, "step_num": 7})
        self.assertEqual(self.shown(), (7, NONE, False))
        with jax.StepTraceAnnotation("train"):  # without a number: the next one
            self.assertEqual(self.shown(), (8, STEP, False))
        with jax.StepTraceAnnotation("eval", step_num=1):
            self.assertEqual(self.shown(), (8, EVAL, False))
        with self.assertRaises(KeyError), jax.StepTraceAnnotation("train", step_num=9):
            raise KeyError
        self.assertEqual(self.shown(), (9, NONE, False))

    def test_a_number_on_a_device_is_not_looked_at(self):
        class OfADevice:
            def __index__(self):
                raise AssertionError("waits for the device")

            __int__ = __index__

        jax = StandIn("jax.profiler", StepTraceAnnotation=step_annotation()).module
        self.install()
        with jax.StepTraceAnnotation("train", step_num=OfADevice()):
            self.assertEqual(self.shown(), (0, STEP, False))

    def test_checkpoints(self):
        shown = []

        class Checkpointer:
            def save(this, directory, force=False):
                shown.append(self.shown())
                return directory, force

        class CheckpointManager:
            def save(this, step):
                result = Checkpointer().save(step, force=True)
                shown.append(self.shown())
                return result

            def restore(this, step):
                raise FileNotFoundError(step)

        module = StandIn(
            "orbax.checkpoint", Checkpointer=Checkpointer, CheckpointManager=CheckpointManager
        ).module
        self.install()
        self.assertEqual(module.CheckpointManager().save(5), (5, True))
        # Also after the inner of two.
        self.assertEqual(shown, [(-1, CHECKPOINT, False)] * 2)
        with self.assertRaises(FileNotFoundError):
            module.CheckpointManager().restore(5)
        self.assertEqual(self.shown(), (-1, NONE, False))

    def test_input(self):
        shown = []

        class DatasetIterator:
            def __iter__(this):
                return this

        class Source(DatasetIterator):
            def __next__(this):
                shown.append(self.shown())
                if len(shown) > 2:
                    raise StopIteration
                return len(shown)

        class Batch(DatasetIterator):
            def __init__(this):
                this.parent = Source()

            def __next__(this):
                element = next(this.parent)
                shown.append(self.shown())
                return [element]

        StandIn("grain", DatasetIterator=DatasetIterator)
        self.install()
        self.assertEqual(list(Batch()), [[1]])
        self.assertEqual(shown, [(-1, INPUT, True)] * 3)
        self.assertEqual(self.shown(), (-1, NONE, False))

        class Base:
            def __next__(this):
                shown.append(self.shown())

        class Processes(Base):
            pass

        for name, owner in (
            ("torch.utils.data.dataloader", "_BaseDataLoaderIter"),
            ("tensorflow.python.data.ops.iterator_ops", "OwnedIterator"),
            ("tensorflow.python.data.ops.dataset_ops", "_NumpyIterator"),
        ):
            progress.uninstall()
            StandIn(name, **{owner: Base})
            self.install()
            shown.clear()
            next(Processes())
            self.assertEqual(shown, [(-1, INPUT, True)], name)

    def test_evaluations(self):
        class ReportProgress:
            def timed(this, name):
                return threading.Lock()

        class MetricLogger:
            def reset_eval_metrics(this):
                return "reset"

            def record_eval_metrics(this, step, metrics=None, eval_step_count=None):
                return step

            def buffer_and_write_metrics(this, metrics, step, is_training=True):
                pass

        StandIn("clu.periodic_actions", ReportProgress=ReportProgress)
        StandIn("MaxText.metric_logger", MetricLogger=MetricLogger)
        self.install()
        with ReportProgress().timed("eval") as entered:
            self.assertEqual(self.shown(), (-1, EVAL, False))
        self.assertTrue(entered)
        with ReportProgress().timed("checkpoint"):
            self.assertEqual(self.shown(), (-1, CHECKPOINT, False))
        with ReportProgress().timed("latest"):
            self.assertEqual(self.shown(), (-1, NONE, False))

        logger = MetricLogger()
        self.assertEqual(logger.reset_eval_metrics(), "reset")
        self.assertEqual(logger.record_eval_metrics(3, metrics={}), 3)
        self.assertEqual(self.shown(), (-1, EVAL, False))
        logger.record_eval_metrics(3, eval_step_count=2)
        self.assertEqual(self.shown(), (-1, NONE, False))
        # As newer versions have it, within a step.
        for _ in progress.steps([4]):
            logger.reset_eval_metrics()
            logger.buffer_and_write_metrics({}, 0, is_training=False)
            self.assertEqual(self.shown(), (4, EVAL, False))
            logger.buffer_and_write_metrics({}, 4)
            self.assertEqual(self.shown(), (4, STEP, False))
            logger.reset_eval_metrics()
        self.assertEqual(self.shown(), (4, NONE, False))
        # One whose end is not told ends with the next step.
        logger.reset_eval_metrics()
        for _ in progress.steps([5]):
            self.assertEqual(self.shown(), (5, STEP, False))
        self.assertEqual(self.shown(), (5, NONE, False))

    def test_evaluation_of_a_function(self):
        def evaluate(number):
            """What it does."""
            return number, self.shown()

        evaluate.lower = "lowered"
        wrapped = progress.evaluation(evaluate)
        self.assertEqual(wrapped.__name__, "evaluate")
        self.assertEqual(wrapped.__doc__, "What it does.")
        self.assertEqual(wrapped.lower, "lowered")
        self.install()
        self.assertEqual(wrapped(2), (2, (-1, EVAL, False)))

    def test_steps_of_a_loop(self):
        self.install()
        seen = []

        def batches():
            for batch in "ab":
                seen.append(self.shown())
                yield batch

        for number, batch in progress.steps(zip(range(5, 9), batches())):
            seen.append((batch, self.shown()))
        self.assertEqual(
            seen,
            [(-1, INPUT, True), ("a", (5, STEP, False)),
             (5, INPUT, True), ("b", (6, STEP, False))],
        )
        self.assertEqual(self.shown(), (6, NONE, False))
        for number in progress.steps(range(10)):
            break
        self.assertEqual(self.shown(), (0, NONE, False))

    def test_other_threads_are_not_shown(self):
        class Base:
            def __next__(this):
                return self.shown()

        StandIn("torch.utils.data.dataloader", _BaseDataLoaderIter=Base)
        self.install()
        seen = []
        for _ in progress.steps([1]):
            thread = threading.Thread(target=lambda: seen.append(next(Base())))
            thread.start()
            thread.join()
            seen.append(next(Base()))
        self.assertEqual(seen, [(1, STEP, False), (1, INPUT, True)])

    def test_uninstall_restores(self):
        annotation = step_annotation()
        before = dict(vars(annotation))
        StandIn("jax.profiler", StepTraceAnnotation=annotation)

        class Checkpointer:
            def save(this):
                return "saved"

        save = Checkpointer.save
        StandIn("orbax.checkpoint", Checkpointer=Checkpointer)
        self.install()
        self.assertIsNot(Checkpointer.save, save)
        with progress._lock:
            progress.uninstall()
        self.assertIs(Checkpointer.save, save)
        self.assertEqual(dict(vars(annotation)), before)
        self.assertNotIn(progress._watch, sys.meta_path)
        self.assertEqual(Checkpointer().save(), "saved")

    def test_what_somebody_put_over_a_hook_stays(self):
        class Checkpointer:
            def save(this):
                return "saved"

        StandIn("orbax.checkpoint", Checkpointer=Checkpointer)
        self.install()
        hooked = Checkpointer.save
        Checkpointer.save = lambda this: "also " + hooked(this)
        progress.uninstall()
        self.assertEqual(Checkpointer().save(), "also saved")

    def test_a_library_that_is_not_as_expected_is_left_alone(self):
        module = StandIn("jax.profiler").module
        StandIn("clu.periodic_actions", ReportProgress=None)
        with self.assertLogs("rapideye_progress", "WARNING") as logs:
            self.install()
        self.assertEqual(len(logs.output), 2)
        self.assertFalse(hasattr(module, "StepTraceAnnotation"))

    def test_a_page_that_fails_does_not_reach_the_program(self):
        class Base:
            def __next__(this):
                return 1

        StandIn("torch.utils.data.dataloader", _BaseDataLoaderIter=Base)
        self.install()

        class Broken:
            def __getattr__(this, name):
                raise OSError("no page")

        progress._loop.page = Broken()
        with self.assertLogs("rapideye_progress", "WARNING"):
            self.assertEqual(next(Base()), 1)
            self.assertEqual(list(progress.steps([1])), [1])
        progress._loop.page = rapideye_progress.Page(self.path)

    def test_a_library_that_is_imported_later(self):
        folder = os.path.join(self.directory.name, "orbax", "checkpoint")
        os.makedirs(folder)
        with open(os.path.join(folder, "__init__.py"), "w", encoding="ascii") as file:
            file.write("class Checkpointer:\n    def save(self, show):\n        return show()\n")
        sys.path.insert(0, self.directory.name)
        self.addCleanup(sys.path.remove, self.directory.name)
        self.install()
        self.assertNotIn("orbax.checkpoint", sys.modules)
        import orbax.checkpoint  # pylint: disable=import-outside-toplevel

        self.assertEqual(orbax.checkpoint.Checkpointer().save(self.shown), (-1, CHECKPOINT, False))

    def test_without_a_page_nothing_is_written_and_all_goes_on(self):
        program = (
            "import rapideye_progress.jax as progress\n"
            "progress.install()\n"
            "print([number for number in progress.steps(range(3))])\n"
        )
        environment = {key: value for key, value in os.environ.items() if "RAPIDEYE" not in key}
        environment["PYTHONPATH"] = os.path.dirname(os.path.abspath(rapideye_progress.__file__))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env=environment, capture_output=True, text=True, check=True,
        )
        self.assertEqual((done.stdout, done.stderr), ("[0, 1, 2]\n", ""))

    def test_the_single_file_works_without_the_folder(self):
        with open(rapideye_progress.__file__, encoding="ascii") as file:
            text = file.read()
        with open(os.path.join(self.directory.name, "rapideye_progress.py"), "w",
                  encoding="ascii") as file:
            file.write(text)
        program = (
            "import rapideye_progress\n"
            "with rapideye_progress.step(1): pass\n"
            "try:\n    import rapideye_progress.jax\n"
            "except ModuleNotFoundError as error: print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=self.directory.name, capture_output=True, text=True, check=True,
        )
        self.assertEqual(done.stdout, "No module named 'rapideye_progress.jax'\n")

    def test_both_files_are_one_package(self):
        folder = os.path.join(self.directory.name, "rapideye_progress")
        os.makedirs(folder)
        for origin, name in ((rapideye_progress, "__init__.py"), (progress, "jax.py")):
            with open(origin.__file__, encoding="ascii") as file:
                text = file.read()
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        done = subprocess.run(
            [sys.executable, "-c", "import rapideye_progress.jax as p; print(p.__file__)"],
            cwd=self.directory.name, capture_output=True, text=True, check=True,
        )
        self.assertEqual(done.stdout.strip(), os.path.join(folder, "jax.py"))


if __name__ == "__main__":
    unittest.main()
