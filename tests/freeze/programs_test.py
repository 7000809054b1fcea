#!/usr/bin/python3
"""What the programs take and print is as it was when it was frozen.

usage: programs_test.py BIN      (the folder of the programs)

In programs/ lie the flags of all commands (flags.txt; not their prose), what `rapideye
diagnose` prints of every capture (diagnose.txt, as SHA-256), what wrong use and bad input
are told (errors.txt), and the names of all metrics (metrics-*.txt). RAPIDEYE_REWRITE_FROZEN=1
writes them anew, and fails.
"""

import glob
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "docs"))

import flags  # noqa: E402  (found by the path above)

BIN = None
PROGRAMS = ("rapideye", "rapideye-agent", "rapideye-coordinator")

# Wrong use of every kind; nothing that opens a port or waits.
MISTAKES = (
    ("rapideye",),
    ("rapideye", "nosuch"),
    ("rapideye", "diagnose"),
    ("rapideye", "diagnose", "nosuch.jsonl"),
    ("rapideye", "diagnose", "samples/README.md", "samples/process-exit.jsonl"),
    ("rapideye", "diagnose", "samples/truth.json"),
    ("rapideye", "diagnose", "--format=html", "samples/bad-tc.jsonl", "samples/bad-sc.jsonl"),
    ("rapideye", "diagnose", "--format=xml", "samples/bad-tc.jsonl"),
    ("rapideye", "diagnose", "--nosuch", "samples/bad-tc.jsonl"),
    ("rapideye", "show"),
    ("rapideye", "show", "latest", "--timeout=1"),
    ("rapideye", "show", "latest", "--coordinator=192.0.2.1:1"),
    ("rapideye", "incidents", "--limit=-1"),
    ("rapideye", "logs", "nosuch.log"),
    ("rapideye", "logs", "--log-signatures=samples/README.md", "samples/README.md"),
    ("rapideye", "fleet"),
    ("rapideye", "fleet", "history"),
    ("rapideye", "fleet", "offenders"),
    ("rapideye", "fleet", "history", "host", "--fleet-db=sqlite:nosuch.db"),
    ("rapideye", "fleet", "history", "host", "--fleet-db=nosuch"),
    ("rapideye", "remover"),
    ("rapideye-agent",),
    ("rapideye-agent", "--task=0", "--coordinator=192.0.2.1:1"),
    ("rapideye-agent", "--task=x", "--coordinator=localhost:1"),
    ("rapideye-agent", "--task=0", "--coordinator=localhost:1", "--disable=nosuch"),
    ("rapideye-agent", "--task=0", "--coordinator=localhost:1", "--poll-interval=0s"),
    ("rapideye-agent", "--task=0", "--coordinator=localhost:1", "--peer=1"),
    ("rapideye-agent", "--task=0", "--coordinator=localhost:1", "--tls-cert=nosuch"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--removal=enforce"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--collect-deadline=1s"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--launch-threshold=soon"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--direct-evidence-from=*"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--tls-cert=c", "--agent-identity-template=agent-{task}"),
    ("rapideye-coordinator", "--state-dir=/dev/null/state", "--nosuch"),
)


def environment():
    # A time zone and a language that are no machine's own.
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TZ": "UTC", "LC_ALL": "C"}


def run(*command):
    program, *arguments = command
    return subprocess.run([os.path.join(BIN, program), *arguments], cwd=TESTS, env=environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def metric_names(page):
    """Kinds, names and labels, without values and prose; of labels that tell a version, the name."""
    found = set()
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            found.add(line)
        elif line and not line.startswith("#"):
            name = re.match(r"[^ {]+(\{.*\})?", line)[0]
            found.add(re.sub(r'version="[^"]*"', 'version="..."', name))
    return "\n".join(sorted(found)) + "\n"


class Daemon:
    """A program that serves metrics, until the end of the block."""

    def __init__(self, *command):
        program, *arguments = command
        self.process = subprocess.Popen([os.path.join(BIN, program), *arguments],
                                        env=environment(), stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if match := re.search(r"http://[^/\s]+", line):
                return match[0]
        raise AssertionError("it does not say where its metrics are:\n" + "".join(lines))

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)


class ProgramsTest(unittest.TestCase):
    maxDiff = None

    def compare(self, name, text):
        path = os.path.join(HERE, "programs", name)
        if os.environ.get("RAPIDEYE_REWRITE_FROZEN"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.fail(f"rewrote {path}: look at the difference")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, f"differs from {path} (tests/freeze/README.md)")

    def test_flags(self):
        text = ""
        for program in PROGRAMS:
            for command in flags.commands(os.path.join(BIN, program)):
                text += " ".join((program, *command.path)) + "\n"
                for flag in command.flags:
                    text += (f"  --{flag.name}={flag.kind} {flag.variable} default "
                             f"'{flag.default}'{' repeatable' if flag.repeatable else ''}\n")
        self.compare("flags.txt", text)

    def test_diagnose(self):
        captures = [os.path.relpath(path, TESTS)
                    for folder in ("samples", "samples/hard", "freeze/captures")
                    for path in sorted(glob.glob(os.path.join(TESTS, folder, "*.jsonl")))]
        text = ""
        for form in (("--format=text",), ("--format=text", "--digest-format=grouped"),
                     ("--format=text", "--explain"), ("--format=json",),
                     ("--format=json", "--explain")):
            result = run("rapideye", "diagnose", *form, *captures)
            self.assertEqual((result.returncode, result.stderr), (0, b""), form)
            # One line a capture, or one part that begins with its name.
            parts = (result.stdout.splitlines() if "--format=json" in form
                     else re.split(rb"^(?===> )", result.stdout, flags=re.MULTILINE)[1:])
            self.assertEqual(len(parts), len(captures))
            for capture, part in zip(captures, parts):
                text += f"{capture} {' '.join(form)} {sha256(part)}\n"
        for capture in captures[:2]:
            for form in ("text", "json", "html"):
                result = run("rapideye", "diagnose", f"--format={form}", capture)
                text += f"{capture} alone --format={form} {sha256(result.stdout)}\n"
        self.compare("diagnose.txt", text)

    def test_errors(self):
        text = ""
        for command in MISTAKES:
            result = run(*command)
            told = result.stderr.decode()
            told = re.sub(r"^\S+Z (?=\w+ rapideye-)", "", told, flags=re.MULTILINE)
            text += f"$ {' '.join(command)}\n{told}"
            if result.stdout:
                text += f"(standard output: SHA-256 {sha256(result.stdout)})\n"
            text += f"exit status {result.returncode}\n\n"
        self.compare("errors.txt", text)

    def test_metrics_of_a_coordinator(self):
        with tempfile.TemporaryDirectory() as folder:
            with Daemon("rapideye-coordinator", "--listen=127.0.0.1:0", "--http=127.0.0.1:0",
                        f"--state-dir={folder}") as address:
                with urllib.request.urlopen(f"{address}/metrics", timeout=60) as page:
                    self.compare("metrics-coordinator.txt", metric_names(page.read().decode()))

    def test_metrics_of_a_remover(self):
        with tempfile.TemporaryDirectory() as folder:
            with Daemon("rapideye", "remover", f"--fleet-db=sqlite:{folder}/fleet.db",
                        "--http=127.0.0.1:0") as address:
                with urllib.request.urlopen(f"{address}/metrics", timeout=60) as page:
                    self.compare("metrics-remover.txt", metric_names(page.read().decode()))

    def test_metrics_of_an_agent(self):
        # Nobody answers there, and nothing of this machine is looked at.
        with Daemon("rapideye-agent", "--coordinator=127.0.0.1:1", "--runtime=127.0.0.1:1",
                    "--metrics-port=0", "--job=job", "--slice=0", "--task=0", "--host=host",
                    "--hardware=hardware", "--state-dir=off", "--proc-root=/nonexistent",
                    "--sys-root=/nonexistent", "--dev-root=/nonexistent") as address:
            with urllib.request.urlopen(f"{address}/metrics", timeout=60) as page:
                self.compare("metrics-agent.txt", metric_names(page.read().decode()))


if __name__ == "__main__":
    BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
