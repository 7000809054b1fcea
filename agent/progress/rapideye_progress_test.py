#!/usr/bin/python3
"""Tests of rapideye_progress: what stands on the page, and what never reaches the loop."""

import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import rapideye_progress

NONE, COMPILE, INPUT, STEP, CHECKPOINT, EVAL = range(6)
FIELDS = ("sequence", "step", "phase", "phase_since", "input_wait_since")


class PageTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "page")
        self.page = rapideye_progress.Page(self.path)
        self.addCleanup(self.page.close)

    def read(self):
        # Not by open and close: that would give the page's lock away.
        fields = dict(zip(FIELDS, struct.unpack("<5q", os.pread(self.page._descriptor, 40, 80))))
        self.assertEqual(fields["sequence"] % 2, 0)
        return fields

    def shown(self):
        fields = self.read()
        return fields["step"], fields["phase"], fields["input_wait_since"] > 0

    def test_header(self):
        with self.page.step(1):
            header = struct.unpack("<QII40sQqq", os.pread(self.page._descriptor, 80, 0))
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot_id = file.read().strip()
        self.assertEqual(header[0].to_bytes(8, "little"), b"rapideye")
        self.assertEqual(header[1:3], (1, 4096))
        self.assertEqual(header[3].rstrip(b"\0").decode(), boot_id)
        self.assertEqual(header[5], os.getpid())
        self.assertGreater(header[6], 0)
        self.assertEqual(os.path.getsize(self.path), 4096)

    def devices(self):
        words = struct.unpack("<259q", os.pread(self.page._descriptor, 259 * 8, 120))
        return words[1:3], list(words[3 : 3 + words[0]])

    def test_devices_stand_behind_what_readers_of_before_read(self):
        with self.page.step(3):
            self.assertEqual(self.devices(), ((0, 0), []))
            self.page.devices(range(8, 12), (8, 24))
            self.assertEqual(self.shown(), (3, STEP, False))
        self.assertEqual(self.devices(), ((8, 24), [8, 9, 10, 11]))
        self.page.close()
        self.page = rapideye_progress.Page(self.path)
        with self.page.step(4):
            self.assertEqual(self.devices()[1], [])  # of a process before this one

    def test_devices_that_cannot_be_are_left_out_and_said(self):
        with self.page.step(3):
            self.page.devices([5])
            for numbers in ([-1], ["a"], range(257), None):
                with self.assertLogs("rapideye_progress", "WARNING"):
                    self.page.devices(numbers)
            self.assertEqual(self.devices(), ((0, 0), [5]))

    def test_phases_begin_and_end(self):
        for enter, phase in (
            (self.page.checkpoint, CHECKPOINT),
            (self.page.eval, EVAL),
            (self.page.compile, COMPILE),
        ):
            before = time.monotonic_ns()
            with enter():
                self.assertEqual(self.shown(), (-1, phase, False))
                self.assertGreaterEqual(self.read()["phase_since"], before)
            self.assertEqual(self.shown(), (-1, NONE, False))

    def test_a_phase_within_another_gives_way_to_it_as_it_was(self):
        with self.page.step(5):
            since = self.read()["phase_since"]
            with self.page.input_wait():
                self.assertEqual(self.shown(), (5, INPUT, True))
            self.assertEqual(self.shown(), (5, STEP, False))
            with self.page.checkpoint():
                self.assertEqual(self.shown(), (5, CHECKPOINT, False))
            self.assertEqual(self.read()["phase_since"], since)
        self.assertEqual(self.shown(), (5, NONE, False))

    def test_a_wait_within_an_evaluation_is_the_evaluations(self):
        with self.page.eval():
            with self.page.input_wait():
                self.assertEqual(self.shown(), (-1, EVAL, True))
            self.assertEqual(self.shown(), (-1, EVAL, False))

    def test_exceptions_of_the_loop_pass_and_end_the_phase(self):
        with self.assertRaises(KeyError):
            with self.page.step(1):
                with self.page.eval():
                    raise KeyError("of the loop")
        self.assertEqual(self.shown(), (1, NONE, False))

    def test_batches_wait_as_input(self):
        seen = []

        def loader():
            for batch in range(3):
                seen.append(self.shown()[1:])
                yield batch

        got = []
        for batch in self.page.batches(loader()):
            got.append((batch, self.shown()[1:]))
        self.assertEqual(seen, [(INPUT, True)] * 3)
        self.assertEqual(got, [(batch, (NONE, False)) for batch in range(3)])

    def test_batches_pass_on_what_the_iterator_has(self):
        class Loader:
            def __iter__(self):
                return self

            def __next__(self):
                raise ValueError("of the loader")

            def get_state(self):
                return "state"

        batches = self.page.batches(Loader())
        self.assertEqual(batches.get_state(), "state")
        with self.assertRaises(ValueError):
            next(batches)
        self.assertEqual(self.shown()[1:], (NONE, False))

    def test_threads_beside_the_loop_are_not_shown(self):
        with self.page.step(2):
            def beside():
                with self.page.input_wait():
                    with self.page.checkpoint():
                        self.assertEqual(self.shown(), (2, STEP, False))

            thread = threading.Thread(target=beside)
            thread.start()
            thread.join()
            self.assertEqual(self.shown(), (2, STEP, False))

    def test_the_loop_is_the_thread_that_makes_steps(self):
        with self.page.input_wait():
            thread = threading.Thread(target=lambda: self.page.step(9).__enter__())
            thread.start()
            thread.join()
            self.assertEqual(self.shown(), (9, STEP, False))
        self.assertEqual(self.shown(), (9, STEP, False))

    def test_many_threads_leave_a_page_that_is_whole(self):
        def work():
            for number in range(300):
                with self.page.step(number):
                    with self.page.input_wait():
                        pass

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.read()

    def test_a_child_writes_nothing(self):
        with self.page.step(1):
            child = os.fork()
            if child == 0:
                with self.page.step(77):
                    self.page.close()
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(self.shown(), (1, STEP, False))
        self.assertEqual(self.shown(), (1, NONE, False))

    def test_numbers_that_are_none_are_left_out_and_said_once(self):
        with self.assertLogs("rapideye_progress") as logs:
            for number in ("one", 1.5, -3, 2**70):
                with self.page.step(number):
                    self.assertEqual(self.shown(), (-1, STEP, False))
        self.assertEqual(len(logs.output), 1)

    def test_whoever_truncates_the_page_does_not_end_the_loop(self):
        with self.page.step(1):
            os.truncate(self.path, 0)
            with self.page.checkpoint():
                pass
        with self.page.step(2):
            pass

    def test_after_close_nothing_is_done(self):
        with self.page.step(1):
            self.page.close()
        with self.page.eval():
            pass


class WithoutPageTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def train(self, path):
        page = rapideye_progress.Page(path)
        for _ in range(3):
            with page.step(1), page.checkpoint(), page.input_wait():
                pass
        self.assertEqual(list(page.batches([1, 2])), [1, 2])
        page.close()

    def test_no_path_is_silent(self):
        os.environ.pop(rapideye_progress.VARIABLE, None)
        with self.assertNoLogs("rapideye_progress"):
            self.train(None)

    def test_a_page_that_cannot_be_written_is_said_once(self):
        precious = os.path.join(self.directory.name, "precious")
        with open(precious, "w", encoding="ascii") as file:
            file.write("not a page")
        fifo = os.path.join(self.directory.name, "fifo")
        os.mkfifo(fifo)
        link = os.path.join(self.directory.name, "link")
        os.symlink(precious, link)
        missing = os.path.join(self.directory.name, "no", "such")
        # Pages that others could truncate, or whose other name they hold.
        shared = os.path.join(self.directory.name, "shared")
        with open(shared, "wb"):
            os.chmod(shared, 0o666)
        linked = os.path.join(self.directory.name, "linked")
        with open(linked, "wb"):
            os.link(linked, os.path.join(self.directory.name, "second"))
        paths = [precious, fifo, link, missing, shared, linked, self.directory.name]
        if os.geteuid() == 0:
            paths.append(os.path.join(self.directory.name, "theirs"))
            with open(paths[-1], "wb"):
                os.chown(paths[-1], 65534, 65534)
        for path in paths:
            with self.subTest(path), self.assertLogs("rapideye_progress") as logs:
                self.train(path)
                self.assertEqual(len(logs.output), 1)
        with open(precious, encoding="ascii") as file:
            self.assertEqual(file.read(), "not a page")

    def test_another_process_keeps_its_page(self):
        path = os.path.join(self.directory.name, "page")
        page = rapideye_progress.Page(path)
        with page.step(4):
            run = subprocess.run(
                [sys.executable, "-c",
                 "import rapideye_progress as p\nwith p.step(5): print('trains')"],
                env={**os.environ, rapideye_progress.VARIABLE: path,
                     "PYTHONPATH": os.path.dirname(os.path.abspath(rapideye_progress.__file__))},
                capture_output=True, text=True, check=True)
            self.assertEqual(run.stdout, "trains\n")
            self.assertIn("another process writes", run.stderr)
            self.assertEqual(struct.unpack("<q", os.pread(page._descriptor, 8, 88))[0], 4)
        page.close()

    def test_the_next_process_takes_over_what_the_last_has_left(self):
        path = os.path.join(self.directory.name, "page")
        code = "import os, rapideye_progress as p\np.checkpoint().__enter__()\nos._exit(0)"
        subprocess.run([sys.executable, "-c", code], check=True,
                       env={**os.environ, rapideye_progress.VARIABLE: path,
                            "PYTHONPATH": os.path.dirname(os.path.abspath(__file__))})
        page = rapideye_progress.Page(path)
        with page.step(1):
            self.assertEqual(struct.unpack("<qq", os.pread(page._descriptor, 16, 88)), (1, STEP))
        page.close()


if __name__ == "__main__":
    unittest.main()
