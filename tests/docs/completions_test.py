#!/usr/bin/python3
"""Completions for bash, as a shell asks for them; zsh has to parse them, where there is one.

usage: completions_test.py BIN DEPLOY FLAGS      (as deploy/package/completions.py takes them)
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = DEPLOY = FLAGS = ""

# Asks the function that `complete` has registered; compopt works within a real completion only.
ASK = """
source "$1"; shift
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
function=$(complete -p "${1##*/}"); function=${function#*-F }; ${function%% *}
printf '%s\\n' "${COMPREPLY[@]}"
"""


class CompletionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, "completions")
        with open(cls.path, "wb") as file:
            subprocess.run(
                ["/usr/bin/python3", f"{DEPLOY}/package/completions.py", BIN, FLAGS],
                stdout=file, check=True)

    def ask(self, *words):
        done = subprocess.run(["bash", "-c", ASK, "bash", self.path, *words],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands(self):
        self.assertEqual(self.ask("rapideye", "stat"), ["status"])
        self.assertIn("hook-test", self.ask("rapideye", ""))
        self.assertEqual(self.ask("rapideye", "fleet", "h"), ["history"])
        self.assertEqual(self.ask("/usr/bin/rapideye", "inc"), ["incidents"])

    def test_flags(self):
        self.assertEqual(self.ask("rapideye", "status", "--fail"), ["--fail-on-hang"])
        self.assertEqual(self.ask("rapideye", "status", "--form"), ["--format="])
        # bash splits words at '='.
        self.assertEqual(self.ask("rapideye", "--format", "=", "js", "show", "--ins"), ["--insecure"])
        self.assertEqual(self.ask("rapideye-agent", "--coor"), ["--coordinator="])
        self.assertEqual(self.ask("rapideye-coordinator", "--state"), ["--state-dir="])

    def test_nothing_fits(self):
        self.assertEqual(self.ask("rapideye", "diagnose", "train.lo"), [])

    def test_zsh_parses_them(self):
        zsh = shutil.which("zsh")
        if zsh is not None:
            subprocess.run([zsh, "-n", self.path], check=True)


if __name__ == "__main__":
    FLAGS, DEPLOY, BIN = (sys.argv.pop() for _ in range(3))
    unittest.main()
