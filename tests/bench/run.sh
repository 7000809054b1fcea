#!/bin/bash
# Builds the benchmarks (release) and prints their table.
#
#   tests/bench/run.sh [NAME...]
#
# NAME is a benchmark program (default: all). See tests/bench/README.md. On a
# machine that does other work, too, only the ratios mean something.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

deploy/build.sh release "${@:-benchmarks}" >&2
programs=()
if [ $# -gt 0 ]; then
  for name in "$@"; do programs+=("build/release/bench/$name"); done
else
  programs=(build/release/bench/*_bench)
fi
/usr/bin/python3 tests/bench/table.py "${programs[@]}"
