"""The command rapideye, with its libraries."""

import os
import sys


def main():
    """Becomes the command: signals, status and standard streams are its own."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "rapideye")
    try:
        os.execv(program, ["rapideye", *sys.argv[1:]])
    except PermissionError:
        # An installer may have dropped the mode that the wheel states.
        os.chmod(program, 0o755)
        os.execv(program, ["rapideye", *sys.argv[1:]])
