#!/bin/bash
# A real JAX job beside the daemons, really broken: prints truth beside verdict.
#
#   tests/jobs/run.sh [--fault=NAME,...] [--page | --no-page] [--seeds=N] [--jobs=2] [...]
#
# Installs what is missing, builds, and installs JAX from PyPI (once). --help lists faults and
# flags. Exit status 1 if a fault that must be named rightly was not, 77 if JAX cannot be had.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
for argument in "$@"; do
  case $argument in --help | -h | --list) exec /usr/bin/python3 -B "$here/run.py" "$argument" ;; esac
done
"$here/../../deploy/install-dependencies.sh" job >&2
"$here/../../deploy/build.sh" dev rapideye rapideye-agent rapideye-coordinator >&2
exec /usr/bin/python3 -B "$here/run.py" "$@"
