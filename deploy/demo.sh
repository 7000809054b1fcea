#!/bin/bash
# The demonstration: a small multi-slice job hangs, and a digest says why.
#
#   deploy/demo.sh [--fault=bad-chip] [--slices=2] [--tasks=4] [...]
#
# Installs what is missing, builds, then starts coordinator, workers and agents
# on loopback, breaks something, and prints the digest beside the true fault.
# `deploy/demo.sh --help` lists the faults and all flags. Exit status 0 only if
# the verdict was right.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
"$here/build.sh" release testbed >&2
exec "$here/../build/release/bin/testbed" "$@"
