#!/bin/bash
# The demonstration: a small multi-slice job hangs, and a digest says why.
#
#   deploy/demo.sh [--fault=bad-chip] [--slices=2] [--tasks=4] [...]
#   deploy/demo.sh --repeat=4 [--same-place]
#
# Installs what is missing, builds, then starts coordinator, workers and agents
# on loopback, breaks something, and prints the digest beside the true fault.
# With --repeat the same hardware fails in several attempts of the job, and it prints
# what the removal policy decides each time, and why.
# `deploy/demo.sh --help` lists the faults and all flags. Exit status 0 only if
# every verdict and decision was right.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
"$here/build.sh" release testbed >&2
exec "$here/../build/release/bin/testbed" "$@"
