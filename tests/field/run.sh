#!/bin/bash
# Scores rapideye, or any program, on the casebook of public reports.
#
#   tests/field/run.sh [--publish] [--program="COMMAND"] [--keep=DIR] [CASE...]
#
# RAPIDEYE names the `rapideye` that reads the raw lines of logs (default: that of the dev build).
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec /usr/bin/python3 "$here/casebook.py" \
  --rapideye="${RAPIDEYE:-$here/../../build/dev/bin/rapideye}" "$@"
