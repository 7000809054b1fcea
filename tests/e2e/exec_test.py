#!/usr/bin/python3
"""`rapideye-agent exec`: nothing of the agent's keeps a command from running, or harms it.

usage: exec_test.py BIN      (the folder of the programs)
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

BIN = None
PATIENCE = 120  # seconds; reached by a failure only


class ExecTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, flags, command, **variables):
        process = subprocess.Popen(
            [os.path.join(BIN, "rapideye-agent"), *flags, "exec", "--", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": self.folder, **variables})
        self.addCleanup(process.kill)
        return process

    def run_it(self, flags=(), **variables):
        """What a command that exits with 3 and its supervisor wrote on standard error."""
        process = self.start(["--job=j", "--slice=0", "--task=0", "--coordinator=127.0.0.1:1",
                              *flags], ["/bin/sh", "-c", "echo runs; exit 3"], **variables)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(out, "runs\n")
        self.assertEqual(process.returncode, 3)
        return err

    def test_a_bad_setting_or_file_means_unwatched(self):
        os.mkfifo(self.path("fifo"))
        for name, value, says in (
                ("LOG_SIGNATURES", "/nonexistent", "signatures: cannot read /nonexistent"),
                ("LOG_SIGNATURES", self.path("fifo"), "signatures: cannot read"),
                ("DISABLE", "foo", "foo"),
                ("POLL_INTERVAL", "1ms", "--poll-interval: must be from"),
                ("POLL_INTERVAL", "soon", "RAPIDEYE_POLL_INTERVAL"),
                ("PROBE_PORT", "abc", "RAPIDEYE_PROBE_PORT"),
                ("PROBE_PORT", "70000", "--probe-port"),
                ("PEER", "x", "peer"),
                ("LOG_FORMAT", "xml", "xml"),
                ("ONCE", "true", "--once"),
                ("TLS_CERT", "/nonexistent", "--tls"),
                ("SLICE", "abc", "abc")):
            with self.subTest(name=name, value=value):
                variables = {"RAPIDEYE_" + name: value}
                flags = ()
                if name == "SLICE":
                    flags = ("--slice=abc",)
                err = self.run_it(flags, **variables)
                self.assertIn(says, err)
                self.assertIn("unwatched", err)

    def test_an_unknown_flag_means_unwatched(self):
        err = self.run_it(("--no-such-flag=1",))
        self.assertIn("no-such-flag", err)
        self.assertIn("/bin/sh runs unwatched", err)

    def test_only_a_missing_command_is_an_error(self):
        process = self.start([], [])
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 2)
        self.assertIn("COMMAND", err)

    def test_a_log_that_is_a_fifo_of_others_is_not_opened(self):
        os.mkdir(self.path("state"), 0o777)
        os.chmod(self.path("state"), 0o777)
        os.mkfifo(self.path("state", "agent-0-0.log"))
        os.mkfifo(self.path("state", "exec.log"))
        err = self.run_it(("--state-dir=" + self.path("state"),))
        self.assertIn("can be written by other users; the agent logs here", err)

    def test_a_log_that_is_a_fifo_of_ours_is_not_waited_for(self):
        os.mkfifo(self.path("log"))
        err = self.run_it(("--exec-log=" + self.path("log"),))
        self.assertIn("is not a regular file; the agent logs here", err)

    def test_a_log_that_is_a_link_is_not_followed(self):
        os.mkdir(self.path("state"), 0o700)
        with open(self.path("victim"), "w", encoding="ascii") as file:
            file.write("mine\n")
        os.symlink(self.path("victim"), self.path("state", "agent-0-0.log"))
        err = self.run_it(("--state-dir=" + self.path("state"),))
        self.assertIn("is not a regular file; the agent logs here", err)
        with open(self.path("victim"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine\n")

    def test_a_private_directory_of_ours_holds_the_log(self):
        err = self.run_it()
        self.assertEqual(err, "")
        log = self.path("rapideye-agent", "agent-0-0.log")
        with open(log, encoding="utf-8") as file:
            self.assertIn("worker 0/0 of job j", file.read())
        self.assertEqual(os.stat(self.path("rapideye-agent")).st_mode & 0o777, 0o700)

    def test_signals_pass_while_standard_error_is_full(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        process = subprocess.Popen(
            [os.path.join(BIN, "rapideye-agent"), "--poll-interval=1ms", "--exec-log=stderr",
             "exec", "--", "/bin/sh", "-c",
             "trap 'echo got; kill -9 $!; exit 7' TERM; sleep 1000 & echo ready; wait"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, text=True)
        self.addCleanup(process.kill)
        os.close(writer)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), "got\n")
        self.assertEqual(process.wait(PATIENCE), 7)
        process.stdout.close()
        os.close(reader)


class HangupTest(unittest.TestCase):
    """SIGHUP to an agent without a command."""

    def test_it_reads_its_files_again_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            signatures = os.path.join(folder, "signatures")
            with open(signatures, "w", encoding="ascii") as file:
                file.write("")
            process = subprocess.Popen(
                [os.path.join(BIN, "rapideye-agent"), "--job=j", "--slice=0", "--task=0",
                 f"--coordinator=127.0.0.1:{nobody.getsockname()[1]}", "--state-dir=off",
                 # A number: c-ares leaks ten bytes of a name, which a sanitizer takes for ours.
                 f"--runtime=127.0.0.1:{nobody.getsockname()[1]}",
                 "--log-signatures=" + signatures],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True)
            self.addCleanup(process.kill)
            self.until(process, "worker 0/0 of job j")
            self.until(process, "coordinator")  # it runs
            os.remove(signatures)
            process.send_signal(signal.SIGHUP)
            self.until(process, "SIGHUP: reading the files again")
            self.until(process, "the signatures stay as they are")
            process.send_signal(signal.SIGTERM)
            self.until(process, "stopped")
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stderr.close()

    def until(self, process, text):
        for line in process.stderr:
            if text in line:
                return
        self.fail(f"no line says {text}")


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
