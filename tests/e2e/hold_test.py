#!/usr/bin/python3
"""`testbed --hold`, as deploy/demo.sh runs it: what it prints works, and Ctrl-C ends it well.

usage: hold_test.py BIN      (the folder of the programs)
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BIN = os.path.realpath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
PATIENCE = 300  # seconds, for what takes about one on an idle machine


class HoldTest(unittest.TestCase):
    def ask(self, setting, command):
        """The object that the command prints."""
        done = subprocess.run(["bash", "-c", f"{setting}; {command} --json"], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        return json.loads(done.stdout)

    def check_pause_and_acknowledgement(self, setting):
        pause = self.ask(setting, "rapideye pause --for=1h --reason=drill")["pause"]
        self.assertEqual(pause["reason"], "drill")
        self.assertTrue(0 < pause["leftMs"] <= 3600 * 1000, pause)
        self.assertTrue(pause["by"])
        self.assertEqual(self.ask(setting, "rapideye pause --end"), {})
        known = self.ask(setting, "rapideye acknowledge latest --reason=drill")
        self.assertRegex(known["incidentId"], r"^\d{8}T\d{6}Z-[0-9a-f]{8}$")
        self.assertEqual(known["acknowledged"]["reason"], "drill")
        self.assertTrue(known["acknowledged"]["by"])
        self.assertTrue(known["acknowledged"]["at"])

    def check_page(self, page):
        """The page follows the digest within a moment: until then the evidence is being classified."""
        end = time.monotonic() + PATIENCE
        while True:
            with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
                text = answer.read().decode()
            if "BAD_TPU_CHIP" in text:
                return
            self.assertIn("classifying the evidence", text)
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_what_it_prints_works(self):
        with tempfile.TemporaryDirectory() as folder:
            job = subprocess.Popen([f"{BIN}/testbed", "--hold", f"--state-dir={folder}"],
                                   stdout=subprocess.PIPE, text=True)
            try:
                page, setting, commands = "", "", []
                for line in job.stdout:
                    line = line.strip()
                    if line.startswith("http://"):
                        page = line
                    elif line.startswith("export "):
                        setting = line
                    elif line.startswith("rapideye "):
                        commands.append(line)
                        if line == "rapideye snapshot":
                            break
                self.assertIsNone(job.poll())
                self.check_page(page)
                self.assertEqual(len(commands), 4)
                for command in commands:
                    done = subprocess.run(["bash", "-c", f"{setting}; {command}"],
                                          capture_output=True, text=True, check=False, timeout=PATIENCE)
                    self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
                    self.assertRegex(done.stdout, r"BAD_TPU_CHIP|bad TPU chips", command)
                self.check_pause_and_acknowledgement(setting)
                job.send_signal(signal.SIGINT)
                rest, _ = job.communicate(timeout=PATIENCE)
                self.assertTrue(re.search("^RIGHT$", rest, re.MULTILINE), rest)
                self.assertEqual(job.returncode, 0)
            finally:
                job.kill()
                job.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
