#!/usr/bin/python3
"""Attaches to all threads of a process as a debugger does, and stops them: `debugger.py PID`."""

import ctypes
import os
import signal
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def trace(request, thread):
    if libc.ptrace(request, thread, None, None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


threads = [int(name) for name in os.listdir(f"/proc/{int(sys.argv[1])}/task")]
for one in threads:
    trace(PTRACE_SEIZE, one)
for one in threads:
    trace(PTRACE_INTERRUPT, one)
print("stopped", flush=True)
signal.pause()
