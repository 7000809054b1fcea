#!/usr/bin/python3
"""Google's own clients of the TPU runtime read the testbed's runtime: what they show is its state.

    runtime_clients_test.py --worker=testbed-worker --build=DIR [--sdk]

tpu-info is called as its command and by its functions; with --sdk also libtpu's. Both come from
PyPI into a virtual environment below the build. Skipped where they cannot be had.
"""

import argparse
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "jobs"))

import environment  # noqa: E402
from relay import Relay  # noqa: E402
from testbed_job import Job  # noqa: E402

SKIPPED = 77
CHIPS = 2
LIBTPU_PORT = 8431  # the only one that libtpu's client asks
TENSOR_CORE = "1"  # as CoreType numbers them
OPTIONS = argparse.Namespace()


class RuntimeClientsTest(unittest.TestCase):
    """A job of one TensorCore and two SparseCores a chip, which stands still."""

    @classmethod
    def setUpClass(cls):
        arguments = [f"--chips={CHIPS}", "--generation=v6e", "--step-time=50ms"]
        if OPTIONS.sdk:
            arguments.append(f"--runtime-port={LIBTPU_PORT}")
        cls.job = Job(OPTIONS.worker, arguments)
        cls.addClassCleanup(cls.job.stop)
        cls.worker = cls.job.workers[0]
        if OPTIONS.sdk:
            relay = Relay(cls.worker.runtime)
            cls.addClassCleanup(relay.stop)
        cls.state = cls.worker.cores(CHIPS * 3)
        cls.tensor_cores = [core for _, core in sorted(cls.state.items()) if core["type"] == TENSOR_CORE]

    def ask(self, *arguments):
        """What a client reads, as JSON; see client.py."""
        done = subprocess.run(
            [OPTIONS.python, os.path.join(HERE, "client.py"), self.worker.runtime, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_job_stands(self):
        running = [core for core in self.tensor_cores if "pc" in core]
        self.assertEqual(len(running), CHIPS, self.state)

    def test_core_states(self):
        seen = json.loads(self.ask("cores"))
        self.assertEqual({core["global_core_id"] for core in seen}, set(self.state))
        for core in seen:
            mine = self.state[core["global_core_id"]]
            kind = "TPU_CORE_TYPE_TENSOR_CORE" if mine["type"] == TENSOR_CORE else "TPU_CORE_TYPE_SPARSE_CORE"
            self.assertEqual(core["core_type"], kind)
            self.assertEqual(core["program_fingerprint"], mine.get("fingerprint", ""))
            self.assertEqual(len(core["queued_programs"]), int(mine["queued"]))
            sequencer = core["sequencer_states"][0]
            self.assertEqual(sequencer["pc"], int(mine.get("pc", 0)))
            self.assertEqual(sequencer["run_id"], int(mine.get("run", 0)))
            self.assertEqual(sequencer["hlo_location"] is not None, "pc" in mine)

    def test_queue_sizes(self):
        queued = [[device, int(core["queued"])] for device, core in enumerate(self.tensor_cores)]
        self.assertEqual(json.loads(self.ask("queues")), queued)

    def test_idle_for_as_long_as_nothing_completes(self):
        first = json.loads(self.ask("idle"))
        second = json.loads(self.ask("idle"))
        self.assertEqual([device for device, _ in first], list(range(CHIPS)))
        for (_, before), (_, after) in zip(first, second):
            self.assertGreater(before, 1)
            self.assertGreater(after, before)

    def test_memory_and_duty_cycle(self):
        usage = json.loads(self.ask("usage"))
        self.assertEqual([device for device, _, _, _ in usage], list(range(CHIPS)))
        for (device, used, total, duty) in usage:
            # One program and what waits.
            waiting = int(self.tensor_cores[device]["queued"])
            self.assertEqual(used, (512 + 16 * waiting) * 2**20)
            self.assertEqual(total, 32 * 2**30)
            self.assertGreater(duty, 50)
            self.assertLessEqual(duty, 100)

    def test_latencies(self):
        for row in json.loads(self.ask("execution")):
            _, mean, p50, p90, p95, p999 = row
            # A step computes for 50 ms; its first has to wait for the others.
            self.assertGreater(mean, 40_000)
            self.assertGreater(p50, 30_000)
            self.assertLessEqual(p50, p90)
            self.assertLessEqual(p90, p95)
            self.assertLessEqual(p95, p999)
        for metric in ("inbound_buffer_transfer_latency", "collective_e2e_latency"):
            rows = json.loads(self.ask("transfers", metric))
            self.assertEqual([size for size, *_ in rows], ["512B+"])
            _, p50, _, _, p999 = rows[0]
            self.assertLess(0, p50)
            self.assertLessEqual(p50, p999)

    def test_the_command_shows_tables(self):
        text = self.ask("command")
        for title in ("TPU Runtime Utilization", "Inbound Buffer Transfer Latency"):
            self.assertIn(title, text)
        self.assertIn("/ 32.00 GiB", text)
        self.assertIn("512B+", text)
        for metric in ("core_state", "sequencer_state_detailed", "queued_programs"):
            text = self.ask("command", "--metric", metric)
            self.assertNotIn("N/A", text)
        self.assertIn(self.tensor_cores[0]["fingerprint"][:8], text)

    def test_sdk(self):
        if not OPTIONS.sdk:
            self.skipTest("libtpu (213 MB) is installed for --long alone")
        seen = json.loads(self.ask("sdk"))
        cores = [f"{i}-TPU_CORE_TYPE_TENSOR_CORE: {core['queued']}"
                 for i, core in enumerate(self.tensor_cores)]
        self.assertEqual(seen["hlo_queue_size"], cores)
        self.assertEqual(seen["hbm_capacity_total"], [str(32 * 2**30)] * CHIPS)
        self.assertEqual([float(text) > 1 for text in seen["idle_duration"]], [True] * CHIPS)
        self.assertTrue(seen["collective_e2e_latency"][0].startswith("512B+, "), seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--sdk", action="store_true")
    OPTIONS.__dict__.update(vars(parser.parse_args()))
    name = "requirements-sdk.txt" if OPTIONS.sdk else "requirements.txt"
    what = "libtpu and tpu-info (280 MB)" if OPTIONS.sdk else "tpu-info (63 MB)"
    try:
        folder = environment.prepare(OPTIONS.build, os.path.join(HERE, name), what)
    except environment.Unavailable as reason:
        print(f"no clients of the TPU runtime here: {reason}")
        return SKIPPED
    OPTIONS.python = f"{folder}/bin/python"
    return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
