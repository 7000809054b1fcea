#!/usr/bin/python3
"""Stacks of a real Python program with a thread and a child: for an operator, and at a hang line.

usage: stacks_test.py BIN      (the folder of the programs)

py-spy is the one on the PATH, else a stand-in that prints what each process has written of
itself. eu-stack is always a stand-in, which leaves a mark: it would stop the program.
"""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "freeze"))
from state_test import Coordinator  # noqa: E402

BIN = None
PATIENCE = 300  # seconds, for what takes about five on an idle machine
HANG = "Megascale hang detected: Timed out waiting for 1 graphs to complete"

PROGRAM = '''
import json, multiprocessing, os, sys, threading

def tell(folder):
    """What a stand-in for py-spy prints."""
    threads = []
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        frames = []
        if ident == threading.get_ident():
            frame = frame.f_back
        while frame is not None:
            frames.append({"name": frame.f_code.co_name, "line": frame.f_lineno,
                           "short_filename": os.path.basename(frame.f_code.co_filename)})
            frame = frame.f_back
        threads.append({"thread_name": names.get(ident, ""), "frames": frames})
    with open(os.path.join(folder, str(os.getpid()) + ".json"), "w") as file:
        json.dump(threads, file)

def produce(folder, ready):
    tell(folder)
    ready.send("produces")
    try:
        ready.recv()
    except EOFError:  # the program has ended
        pass

def prefetch(begun):
    begun.set()
    threading.Event().wait()

def read_shard(folder):
    tell(folder)
    print("pid", os.getpid(), flush=True)  # from here on it can be read
    for line in sys.stdin:
        print(line, end="", file=sys.stderr, flush=True)

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    here, there = multiprocessing.Pipe()
    multiprocessing.Process(target=produce, args=(sys.argv[1], there), daemon=True).start()
    there.close()
    here.recv()
    begun = threading.Event()
    threading.Thread(target=prefetch, name="prefetch", args=(begun,), daemon=True).start()
    begun.wait()
    read_shard(sys.argv[1])
'''


class StacksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("program.py", PROGRAM)
        self.script("eu-stack", f"touch {self.folder}/stopped\n"
                                "printf 'TID %s:\\n#0 0x1 poll - /lib/libtpu.so\\n' $6\n")
        if shutil.which("py-spy") is None:
            self.script("py-spy", f"exec cat {self.folder}/$5.json\n")
        self.start("state")

    def start(self, state):
        """A job, with a coordinator that has no history."""
        self.state_dir = self.path(state)
        self.coordinator = Coordinator(BIN, self.folder, self.state_dir, [])
        self.addCleanup(self.end, self.coordinator.process)
        self.agent = subprocess.Popen(
            [os.path.join(BIN, "rapideye-agent"), f"--coordinator={self.coordinator.address}",
             "--job=job", "--slice=0", "--task=0", "--host=host-0", "--runtime=127.0.0.1:1",
             "--poll-interval=200ms", f"--state-dir={self.state_dir}-of-agent",
             "--exec-log=stderr", "exec", "/usr/bin/python3", self.path("program.py"), self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={"PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": self.folder,
                 "MEGASCALE_NUM_SLICES": "1", "TPU_WORKER_HOSTNAMES": "host-0"})
        self.addCleanup(self.end, self.agent)
        self.pid = int(self.agent.stdout.readline().split()[1])
        self.coordinator.line(r"host-0\) connected")

    @staticmethod
    def end(process):
        # Asked, so that what it has started ends as well, and writes nothing any more.
        process.terminate()
        with process:  # closes its pipes
            process.wait()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def script(self, name, text):
        self.write(name, "#!/bin/sh\n" + text)
        os.chmod(self.path(name), 0o755)

    def snapshot(self):
        """The digest of a snapshot for an operator, and the worker's part of its capture."""
        capture = self.path("capture.jsonl.gz")
        digest = json.loads(self.coordinator.ask("snapshot", "--format=json",
                                                 f"--capture={capture}"))
        return digest, self.worker(capture)

    @staticmethod
    def worker(capture):
        with gzip.open(capture, "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        # Of a worker that was too busy to answer in time nothing is there.
        return next((record["snapshot"] for record in records if "snapshot" in record), {})

    def state(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def check(self, digest, worker):
        self.assertIn("stacks", worker, worker.get("stacksMissing"))
        stacks = {stack["thread"]: stack["frames"] for stack in worker["stacks"]}
        main = " < ".join(stacks["MainThread"])
        self.assertRegex(main, r"read_shard \(program\.py:\d+\)")
        self.assertRegex(" < ".join(stacks["prefetch"]), r"prefetch \(program\.py:\d+\)")
        children = [name for name in stacks if name.startswith("child ")]
        self.assertTrue(any("produce (program.py:" in " ".join(stacks[child])
                            for child in children), stacks)
        self.assertEqual(1, len(digest["stackGroups"]))
        group = digest["stackGroups"][0]
        self.assertEqual([{"slice": 0, "task": 0}], group["workers"])
        self.assertTrue(any(frame.startswith("read_shard (program.py:")
                            for frame in group["frames"]), group)
        self.assertFalse(any("stack" in lacking for lacking in digest.get("lacking", [])))

    def until_there(self):
        """Stacks that a busy machine delivers late are in a later snapshot."""
        ends = time.monotonic() + PATIENCE
        while True:
            digest, worker = self.snapshot()
            try:
                self.check(digest, worker)
                return self.assertNotIn("stacksMissing", worker)
            except AssertionError:
                if time.monotonic() > ends:
                    raise

    def test_of_a_snapshot_for_an_operator(self):
        self.until_there()
        os.kill(self.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.pid, signal.SIGCONT)
        self.until_there()
        self.assertEqual("T", self.state())
        self.assertFalse(os.path.exists(self.path("stopped")))

    def hang(self):
        """The worker's part of the capture of the incident that a hang line causes."""
        self.agent.stdin.write(HANG + "\n")
        self.agent.stdin.flush()
        incident = self.coordinator.line(r"Incident: (\S+)").group(1)
        return self.worker(f"{self.state_dir}/incidents/{incident}/capture.jsonl.gz")

    def test_at_a_hang_line(self):
        # The main thread was idle: it could be stopped for its native frames.
        native = {"thread": "main (python3)", "frames": ["poll (libtpu.so)"]}
        ends = time.monotonic() + PATIENCE
        attempt = 1
        # On a busy machine an incident may be closed before its stacks are there: another job is tried.
        while native not in (worker := self.hang()).get("stacks", []) and time.monotonic() < ends:
            self.end(self.agent)
            self.end(self.coordinator.process)
            attempt += 1
            self.start(f"state-{attempt}")
        self.assertIn(native, worker.get("stacks", []), worker.get("stacksMissing"))
        self.check(json.loads(self.coordinator.ask("show", "latest", "--format=json")), worker)
        self.coordinator.line(r"Stacks: host-0 stands in read_shard \(program\.py:\d+\)")


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
