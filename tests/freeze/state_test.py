#!/usr/bin/python3
"""A coordinator starts on the state directory of 0.1: nothing is lost, nothing done twice.

usage: state_test.py BIN      (the folder of the programs)

The state in state/ is what a coordinator of 0.1 wrote: two incidents, the fleet's history,
and the journal of two hooks, which are done for the first incident, and were interrupted
for the second when the coordinator was stopped. Captures and HLO lie there before gzip,
databases as SQL. What asking about it printed then is in state/answers.txt.
"""

import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
STATE = os.path.join(HERE, "state")
ANSWERS = os.path.join(STATE, "answers.txt")
DONE = "20261122T134819Z-a0030922"
INTERRUPTED = "20261122T134830Z-1c335203"
TIMES = ("lease_ms", "not_before_ms", "created_ms", "expires_ms", "finished_ms", "begun_ms")
DAY_S = 24 * 60 * 60
PATIENCE = 300  # seconds, for what takes about one on an idle machine
BIN = None


def read(path):
    with open(path, "rb") as file:
        return file.read()


def dump(path, without=()):
    """The rows of a database, without how often its lock was taken, its version, the columns that
    are newer than 0.1, and those named."""
    without = {"recorded_by", *without}
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        tables = [row["name"] for row in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        lines = [f"{table} {[(key, row[key]) for key in row.keys() if key not in without]}"
                 for table in tables if table not in ("fleet_lock", "fleet_schema")
                 for row in database.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
    database.close()
    return "\n".join(lines)


def incident_files(state):
    """By path: all files of the incidents but what is said of hooks, which may still change."""
    found = {}
    for folder, _, names in os.walk(os.path.join(state, "incidents")):
        for name in names:
            path = os.path.join(folder, name)
            if name != "hooks.json":
                found[os.path.relpath(path, state)] = read(path)
    return found


def ask(programs, *arguments):
    """What rapideye prints."""
    return subprocess.run([os.path.join(programs, "rapideye"), *arguments],
                          check=True, timeout=PATIENCE, stdout=subprocess.PIPE).stdout


class Coordinator:
    """A coordinator out of a folder of programs, on a free port, and who asks it."""

    def __init__(self, programs, folder, state, hooks):
        self.programs = programs
        self.log = []
        self.process = subprocess.Popen(
            [os.path.join(programs, "rapideye-coordinator"), "--listen=127.0.0.1:0", "--http=off",
             f"--state-dir={state}", *(f"--hook={hook}" for hook in hooks)],
            stderr=subprocess.PIPE, text=True,
            # What is frozen grows older than any history keeps.
            env={"PATH": os.environ["PATH"], "HOME": folder, "RAPIDEYE_FLEET_RETENTION": "1000000h"})
        self.address = self.line(r"listening on (\S+)").group(1)

    def line(self, pattern):
        """The first line of its log that matches, now or later."""
        while True:
            for line in self.log:
                if match := re.search(pattern, line):
                    return match
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError(f"no line matches {pattern}:\n" + "".join(self.log))
            self.log.append(line)

    def ask(self, *arguments, programs=None):
        return ask(programs or self.programs, *arguments, f"--coordinator={self.address}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.log.extend(self.process.stderr)
        self.process.stderr.close()
        return self.process.wait(timeout=PATIENCE)


class StateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rapideye-state-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.state = os.path.join(self.folder, "state")
        self.runs = os.path.join(self.folder, "runs")
        self.hooks = [self.hook(name) for name in ("upload", "webhook")]
        self.coordinator = None

    def hook(self, name):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "{name} $RAPIDEYE_INCIDENT" >>{self.runs}\necho again\n')
        os.chmod(path, 0o755)
        return path

    def lay_out(self, age_s):
        """The state directory, as if the coordinator had been stopped so long ago."""
        for folder, _, names in os.walk(os.path.join(STATE, "incidents")):
            target = os.path.join(self.state, os.path.relpath(folder, STATE))
            os.makedirs(target)
            for name in names:
                data = read(os.path.join(folder, name)).replace(b"@HOOKS@", self.folder.encode())
                if name == "capture.jsonl" or name.startswith("hlo-"):
                    name, data = name + ".gz", gzip.compress(data, mtime=0)
                with open(os.path.join(target, name), "wb") as file:
                    file.write(data)
        shutil.copyfile(os.path.join(STATE, "version"), os.path.join(self.state, "version"))
        for name in ("fleet", "journal"):
            sql = read(os.path.join(STATE, f"{name}.sql")).decode()
            database = sqlite3.connect(self.database(name))
            database.executescript(sql.replace("@HOOKS@", self.folder))
            if name == "journal":
                newest, = database.execute("SELECT MAX(created_ms) FROM fleet_tasks").fetchone()
                later_ms = int((time.time() - age_s) * 1000) - newest
                for column in TIMES:
                    database.execute(f"UPDATE fleet_tasks SET {column} = {column} + ? "
                                     f"WHERE {column} > 0", (later_ms,))
            database.commit()
            database.close()

    def database(self, name):
        return os.path.join(self.state, f"{name}.db")

    def start(self, age_s):
        self.lay_out(age_s)
        self.before = incident_files(self.state)
        self.history = dump(self.database("fleet"), without=("digest",))
        self.coordinator = Coordinator(BIN, self.folder, self.state, self.hooks)
        self.addCleanup(self.coordinator.process.kill)

    def stop(self):
        self.assertEqual(self.coordinator.stop(), 0, "".join(self.coordinator.log))
        self.assertEqual(incident_files(self.state), self.before)
        self.assertEqual(read(os.path.join(self.state, "version")), b"1\n")
        # No incident is recorded or decided on once more. Old digests are deleted.
        self.assertEqual(dump(self.database("fleet"), without=("digest",)), self.history)

    def tasks(self, incident):
        # The journal has been taken over: the incident's directory says what became of its hooks.
        self.assertFalse(os.path.exists(self.database("journal")))
        self.assertTrue(os.path.exists(self.database("journal") + ".taken-over"))
        return [(os.path.basename(hook["hook"]), *(hook[key] for key in (
            "state", "attempts", "outcome", "output"))) for hook in
            json.loads(self.hooks_json(incident))["hooks"]]

    def hooks_json(self, incident):
        text = read(os.path.join(self.state, "incidents", incident, "hooks.json")).decode()
        return text.replace(self.folder, "@HOOKS@")

    def hook_runs(self):
        return read(self.runs).decode().splitlines() if os.path.exists(self.runs) else []

    def asked(self):
        """Everything that one may ask about the state, and the answers."""
        questions = [("incidents",), ("incidents", "--format=json")]
        fleet = [("history", "tpu-host-0-0"), ("history", "tpu-host-0-2", "--format=json"),
                 ("precision",), ("breaker",)]
        text = ""
        for question in questions:
            answer = self.coordinator.ask(*question).decode()
            text += f"$ rapideye {' '.join(question)}\n{answer}\n"
        for question in fleet:
            answer = ask(BIN, "fleet", *question, f"--fleet-db=sqlite:{self.database('fleet')}")
            text += f"$ rapideye fleet {' '.join(question)}\n{answer.decode()}\n"
        return text

    def test_incidents_are_listed_and_shown(self):
        self.start(age_s=40 * DAY_S)
        asked = self.asked()
        for incident in (DONE, INTERRUPTED):
            for form, name in (("text", "digest.txt"), ("json", "digest.json"),
                               ("html", "digest.html"), ("capture", "capture.jsonl.gz")):
                shown = self.coordinator.ask("show", incident, f"--format={form}")
                self.assertEqual(shown, self.before[os.path.join("incidents", incident, name)],
                                 (incident, form))
        self.assertEqual(self.coordinator.ask("show", "latest"),
                         self.coordinator.ask("show", INTERRUPTED))
        self.stop()
        if os.environ.get("RAPIDEYE_REWRITE_FROZEN"):
            with open(ANSWERS, "w", encoding="utf-8") as file:
                file.write(asked)
            self.fail(f"rewrote {ANSWERS}: look at the difference")
        self.maxDiff = None
        self.assertEqual(asked, read(ANSWERS).decode())

    def test_hooks_that_are_too_late_are_not_run(self):
        self.start(age_s=40 * DAY_S)
        self.coordinator.line(rf"hook \S+/upload .*{INTERRUPTED}")
        self.coordinator.line(rf"hook \S+/webhook .*{INTERRUPTED}")
        self.stop()
        self.assertEqual(self.hook_runs(), [])
        self.assertEqual(self.tasks(DONE), [
            ("upload", "done", 1, "exited with status 0", f"uploaded {DONE}\n"),
            ("webhook", "done", 1, "exited with status 0", "told\n")])
        self.assertEqual(self.tasks(INTERRUPTED), [
            ("upload", "failed", 1, "begun, and not done in time: was interrupted, and is run "
             "again after the next start", f"uploaded {INTERRUPTED}\n"),
            ("webhook", "expired", 0, "not begun in time", "")])
        self.assertEqual(self.hooks_json(DONE), self.written_by_0_1(DONE))
        self.assertIn('"outcome": "not begun in time"', self.hooks_json(INTERRUPTED))

    def test_hooks_that_were_interrupted_are_run_and_no_others(self):
        self.start(age_s=60)
        self.coordinator.line(rf"hook \S+/webhook .*{INTERRUPTED}")
        self.stop()
        self.assertEqual(self.hook_runs(), [f"upload {INTERRUPTED}", f"webhook {INTERRUPTED}"])
        self.assertEqual(self.hooks_json(DONE), self.written_by_0_1(DONE))
        self.assertEqual([task[:3] for task in self.tasks(DONE)],
                         [("upload", "done", 1), ("webhook", "done", 1)])
        self.assertEqual([task[:3] for task in self.tasks(INTERRUPTED)],
                         [("upload", "done", 2), ("webhook", "done", 1)])
        self.assertNotEqual(self.hooks_json(INTERRUPTED), self.written_by_0_1(INTERRUPTED))

    def test_a_takeover_survives_that_the_coordinator_is_killed(self):
        killed = os.path.join(self.folder, "killed")
        with open(self.hooks[0], "r+", encoding="utf-8") as file:
            once = f"[ -e {killed} ] || {{ >{killed}; kill -9 $PPID; exit; }}"
            script = file.read().replace("\n", f"\n{once}\n", 1)
            file.seek(0)
            file.write(script)
        self.start(age_s=60)
        self.assertEqual(self.coordinator.process.wait(timeout=60), -signal.SIGKILL)
        self.coordinator.process.stderr.close()
        self.assertEqual(self.hook_runs(), [])
        self.coordinator = Coordinator(BIN, self.folder, self.state, self.hooks)
        self.addCleanup(self.coordinator.process.kill)
        self.coordinator.line(rf"hook \S+/webhook .*{INTERRUPTED}")
        self.stop()
        self.assertEqual(self.hook_runs(), [f"upload {INTERRUPTED}", f"webhook {INTERRUPTED}"])
        self.assertEqual(self.hooks_json(DONE), self.written_by_0_1(DONE))
        self.assertEqual([task[:3] for task in self.tasks(INTERRUPTED)],
                         [("upload", "done", 3), ("webhook", "done", 1)])

    def written_by_0_1(self, incident):
        return read(os.path.join(STATE, "incidents", incident, "hooks.json")).decode()


if __name__ == "__main__":
    BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
