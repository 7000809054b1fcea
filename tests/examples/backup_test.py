#!/usr/bin/python3
"""deploy/package/README.md, "Backup and restore", followed command by command.

usage: backup_test.py BIN      (the folder of the programs)

What is backed up is the state directory that tests/freeze holds, under a coordinator that runs; and a
history in a PostgreSQL of this test's own. What is asked of it is answered alike after the restore.
"""

import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import documents

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tests/freeze"))
import state_test  # noqa: E402

PATIENCE = 120  # seconds, for what takes about one
OWNER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []


def shell(script, **variables):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], **variables})
    if done.returncode:
        raise AssertionError(f"{script}: status {done.returncode}\n{done.stdout}{done.stderr}")


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.blocks = documents.blocks(os.path.join(ROOT, "deploy/package/README.md"), "## Backup and restore")
        self.folder = tempfile.mkdtemp(prefix="rapideye-backup-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.backup = os.path.join(self.folder, "backup")

    def follow(self, block, state="", **variables):
        script = self.blocks[block].replace("/var/lib/rapideye", state).replace("/backup", self.backup)
        shell(script, **variables)

    def test_a_state_directory(self):
        laid = state_test.StateTest()
        laid.setUp()
        self.addCleanup(laid.doCleanups)
        laid.start(age_s=40 * state_test.DAY_S)  # so old that no hook is due
        told = laid.asked()
        self.follow("Back up a coordinator's state, while it runs or not", laid.state)
        laid.coordinator.stop()
        shutil.rmtree(laid.state)
        os.mkdir(laid.state)
        self.follow("Restore it, with the coordinator stopped", laid.state)
        self.assertTrue(os.path.isdir(f"{laid.state}.old"))
        laid.coordinator = state_test.Coordinator(state_test.BIN, laid.folder, laid.state, laid.hooks)
        self.addCleanup(laid.coordinator.process.kill)
        self.assertIn(state_test.DONE, told)
        self.assertEqual(laid.asked(), told)
        laid.stop()  # which looks at every incident's files and at the history

    def fleet(self, *arguments):
        done = subprocess.run([os.path.join(state_test.BIN, "rapideye"), "fleet", *arguments,
                               f"--fleet-db={self.url('fleet')}"], capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def url(self, database):
        return f"postgresql://rapideye@{self.server.replace('/', '%2F')}/{database}"

    def start_server(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs or not shutil.which("pg_dump"):
            self.fail("there is no PostgreSQL (deploy/install-dependencies.sh test)")
        self.server = os.path.join(self.folder, "postgresql")
        os.mkdir(self.server)
        if OWNER:
            shutil.chown(self.server, "nobody", "nogroup")
        data = os.path.join(self.server, "data")
        subprocess.run([*OWNER, f"{programs[-1]}/initdb", f"--pgdata={data}", "--username=rapideye", "--auth=trust",
                        "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"], check=True, capture_output=True,
                       cwd=self.server)
        with open(os.path.join(self.folder, "postgres.log"), "wb") as log:
            server = subprocess.Popen([*OWNER, f"{programs[-1]}/postgres", "-D", data, "-k", self.server, "-c",
                                       "listen_addresses=", "-c", "fsync=off"], stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=log, cwd=self.server)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        ends = time.monotonic() + PATIENCE
        while subprocess.run(["pg_isready", "--quiet", f"--host={self.server}"], check=False).returncode:
            self.assertLess(time.monotonic(), ends, "PostgreSQL does not start")
            time.sleep(0.1)

    def sql(self, *statements, database="postgres"):
        path = os.path.join(self.folder, "statements.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(";\n".join(statements) + ";\n")
        done = subprocess.run(["psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={path}",
                               f"--dbname={self.url(database)}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def fill(self):
        """The history of tests/freeze, in tables as this version makes them."""
        made = subprocess.run([os.path.join(state_test.BIN, "rapideye"), "remover", "--once", "--fleet-hosts=16",
                               f"--fleet-db={self.url('fleet')}"], capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        self.assertEqual(made.returncode, 0, made.stderr)
        frozen = sqlite3.connect(":memory:")
        frozen.executescript(state_test.read(os.path.join(state_test.STATE, "fleet.sql")).decode())
        rows = [line.rstrip(";") for line in frozen.iterdump()
                if line.startswith(('INSERT INTO "fleet_incidents"', 'INSERT INTO "fleet_culprits"'))]
        frozen.close()
        self.assertEqual(len(rows), 4)
        self.sql(*sorted(rows, reverse=True), database="fleet")  # an incident before its culprits

    def test_a_history_in_postgresql(self):
        self.start_server()
        self.sql("CREATE DATABASE fleet")
        self.fill()
        self.fleet("forget", "tpu-host-0-0", "--who=backup-test")
        told = self.fleet("history", "tpu-host-0-0", "--format=json")
        self.assertIn("backup-test", told)
        self.assertIn("BAD_TPU_CHIP", told)
        os.mkdir(self.backup)
        self.follow("Back up a history in PostgreSQL, as its owner", RAPIDEYE_FLEET_DB=self.url("fleet"))
        self.sql("DROP DATABASE fleet")
        self.sql("CREATE DATABASE fleet")
        self.follow("Restore it into an empty database, with nobody at work on it", RAPIDEYE_FLEET_DB=self.url("fleet"))
        self.assertEqual(self.fleet("history", "tpu-host-0-0", "--format=json"), told)
        self.fleet("forget", "tpu-host-0-2")  # it can be written to


if __name__ == "__main__":
    state_test.BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
