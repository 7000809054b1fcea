#!/bin/bash
# The demonstration: a small multi-slice job hangs, and a digest says why.
#
#   deploy/demo.sh [--fault=bad-chip] [--slices=2] [--tasks=4] [...]
#   deploy/demo.sh --hold
#   deploy/demo.sh --repeat=4 [--same-place]
#   deploy/demo.sh --job=jax [--fault=lock] [--no-page]
#
# Installs what is missing, builds, then starts coordinator, workers and agents
# on loopback, breaks something, and prints the digest beside the true fault.
# With --hold job and pages stay up until Ctrl-C, and it prints what to try.
# With --repeat the same hardware fails in several attempts of the job, and it prints
# what the removal policy decides each time, and why.
# With --job=jax a real JAX job hangs instead, on the processors of this machine. JAX is installed
# from PyPI into a virtual environment under build/ (171 MB): this needs an index that pip reaches.
# `deploy/demo.sh [--job=jax] --help` lists the faults and all flags. Exit status 0 only if
# every verdict and decision was right.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
if [[ " $* " == *" --job=jax "* ]]; then
  exec "$here/../tests/jobs/run.sh" --demo "$@"
fi
# What it runs and no more, in the build that compiles fastest and that the tests share.
targets=(testbed)
program=$here/../build/dev/bin/testbed
for argument in "$@"; do
  case $argument in
    --help | -h) if [ -x "$program" ]; then exec "$program" --help; fi ;;  # needs no newer build
    --repeat* | --hold*) targets+=(rapideye) ;;
  esac
done
"$here/build.sh" dev "${targets[@]}" >&2
exec "$program" "$@"
