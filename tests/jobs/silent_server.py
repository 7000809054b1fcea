#!/usr/bin/python3
"""Takes what comes to a port and never says a word: `silent_server.py ADDRESS PORT tcp|udp`."""

import signal
import socket
import sys

ADDRESS = (sys.argv[1], int(sys.argv[2]))
if sys.argv[3] == "udp":
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(ADDRESS)
else:
    listener = socket.create_server(ADDRESS, backlog=64)
print("listens", flush=True)
signal.pause()
