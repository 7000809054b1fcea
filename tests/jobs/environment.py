"""The virtual environment that the job runs in: from PyPI, pinned, made once and kept."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
PYTHON = "/usr/bin/python3"


class Unavailable(Exception):
    """There can be no job here; the text is the reason."""


def prepare(build, requirements=REQUIREMENTS, what="JAX, Orbax and Grain (171 MB)"):
    """The folder below `build` of the environment with `requirements`; installed unless it is there."""
    with open(requirements, "rb") as file:
        key = hashlib.sha256(file.read() + os.path.realpath(PYTHON).encode()).hexdigest()[:16]
    folder = os.path.join(build, "jobs", f"python-{key}")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(folder, "complete")):
            _install(folder, requirements, what)
    return folder


def _install(folder, requirements, what):
    version = _run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
    if version.returncode:
        raise Unavailable(f"{PYTHON} is older than 3.11, which this version of JAX needs")
    shutil.rmtree(folder, ignore_errors=True)
    made = _run([PYTHON, "-m", "venv", folder])
    if made.returncode:
        raise Unavailable(f"no virtual environment can be made (python3-venv): {_last(made)}")
    print(f"installing {what}, once ...", file=sys.stderr, flush=True)
    installed = _run(
        [f"{folder}/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        + ["--require-hashes", "--only-binary=:all:", "--retries=1", "-r", requirements]
    )
    if installed.returncode and "Retrying" in installed.stderr:
        raise Unavailable(f"the package index cannot be reached: {_last(installed)}")
    if installed.returncode:
        raise RuntimeError(f"{requirements} cannot be installed:\n{installed.stderr}")
    with open(os.path.join(folder, "complete"), "w", encoding="ascii"):
        pass


def _run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _last(done):
    return (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
