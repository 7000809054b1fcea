"""What the tests of the hooks share: an incident to hand them, and a place to work in."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOKS = os.path.join(ROOT, "deploy", "hooks")
GOLDEN = os.path.join(ROOT, "tests", "golden", "digest", "bad-tpu-chip.json")
CULPRIT = "tpu-1-2"  # the host that this digest names


class HookCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rapideye-hooks-")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(GOLDEN, encoding="utf-8") as file:
            self.digest = json.load(file)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.folder}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def stand_in(self, name, body=""):
        """A program of this name, first on the PATH, that notes how it was called."""
        self.write(f"bin/{name}", f'#!/bin/sh\nprintf "%s\\n" "$@" >>{self.path(name)}.calls\n{body}\n',
                   0o755)
        if not self.environment["PATH"].startswith(self.path("bin")):
            self.environment["PATH"] = f'{self.path("bin")}:{self.environment["PATH"]}'

    def calls(self, name):
        try:
            with open(self.path(f"{name}.calls"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def hook(self, name, *arguments, remove=(), incident="20261003T035420Z-1a2b3c4d", status=0,
             event="opened", ended="2026-10-03T06:01:23+00:00", test=False, **settings):
        """What the hook printed; it must end with this status. Both outputs in one."""
        digest = {**(self.digest or {}), "incidentId": incident}
        run = subprocess.run(
            [os.path.join(HOOKS, name), *arguments],
            input=json.dumps(digest) if self.digest else "", text=True, timeout=50,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={**self.environment, "RAPIDEYE_INCIDENT": incident,
                 "RAPIDEYE_CAUSE": digest.get("cause", "BAD_TPU_CHIP"),
                 "RAPIDEYE_JOB": digest.get("job", "train"),
                 "RAPIDEYE_REMOVE_HOSTS": ",".join(remove),
                 "RAPIDEYE_EVENT": event,
                 **({"RAPIDEYE_ENDED_AT": ended} if event == "recovered" else {}),
                 **({"RAPIDEYE_TEST": "1"} if test else {}),
                 **{f"RAPIDEYE_HOOK_{key}": value for key, value in settings.items()}})
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    def incident_on_disk(self):
        """Files as the coordinator leaves them; returns their directory."""
        folder = self.path("state", "incidents", "20261003T035420Z-1a2b3c4d")
        for name in ("capture.jsonl.gz", "digest.html", "digest.json", "digest.txt"):
            self.write(os.path.relpath(os.path.join(folder, name), self.folder), f"all of {name}")
        self.digest["files"] = {"capture": os.path.join(folder, "capture.jsonl.gz")}
        return folder


def skip_all(reason):
    """Ends the program as a test that was skipped."""
    print(reason)
    sys.exit(77)
