#!/usr/bin/python3
"""Takes connections on a port and never says a word: `silent_server.py ADDRESS PORT`."""

import signal
import socket
import sys

listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64)
print("listens", flush=True)
signal.pause()
