"""How a job's program is started: by a shell or another program that waits for it."""

# Shell scripts; their arguments are the program's command line.
LAUNCHERS = {
    "script": '"$@"; exit $?',
    "tee": '"$@" 2>&1 | tee /dev/null',
    # Tries again until it succeeds.
    "loop": 'until "$@"; do sleep 1; done',
    # A Python program that imports as much as one that trains.
    "python": 'exec "$1" -c "import subprocess, sys, jax, orbax.checkpoint; '
    'sys.exit(subprocess.call(sys.argv[1:]))" "$@"',
}


def launched(launcher, command):
    """The command line of a launcher that starts a command."""
    return ["/bin/sh", "-c", LAUNCHERS[launcher], "sh"] + command
