"""Real parts for tests: commands that must succeed, waits that end, and a skip where a machine lacks a part."""

import subprocess
import time

PATIENCE = 300  # seconds, for what takes about five on an idle machine
SKIPPED = 77  # the exit status that ctest takes for a skip


class Lacking(Exception):
    """Names what this machine lacks."""


def run(command, **more):
    """Standard output of a command, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def until(tells, what):
    """Waits until `tells` returns something true, and returns it."""
    ends = time.monotonic() + PATIENCE
    while True:
        told = tells()
        if told:
            return told
        if time.monotonic() > ends:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        time.sleep(0.1)


def exit_status(kind, test):
    """That of `test`, which returns whether it passed; a part that is lacking skips it, with the reason."""
    try:
        return 0 if test() else 1
    except Lacking as lacking:
        print(f"no {kind} here: {lacking}")
        return SKIPPED
