#!/bin/bash
# Runs every fuzzer for a while: tests/fuzz/run.sh [--coverage] SECONDS [BUILD]
#
# --coverage prints for each fuzzer how much of the sources its inputs reach.
# SECONDS is for each of them, RAPIDEYE_JOBS (default: one a core) how many run at once. BUILD
# (default build/asan) must have been built.
# What they find is left in BUILD/tests/fuzz/findings, the corpus they grow in
# BUILD/tests/fuzz/corpus. Exit status 1 if one found something.
set -euo pipefail

coverage=false
if [ "${1:-}" = --coverage ]; then
  coverage=true
  shift
fi
if [ $# -lt 1 ] || [ $# -gt 2 ] || ! [[ $1 =~ ^[0-9]+$ ]]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
seconds=$1
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
here=${2:-build/asan}/tests/fuzz

shopt -s nullglob
fuzzers=("$here"/*_fuzzer)
if [ ${#fuzzers[@]} -eq 0 ]; then
  echo "tests/fuzz/run.sh: no fuzzers in $here (build the asan preset first)" >&2
  exit 1
fi

logs=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$logs"' EXIT

# fuzz FUZZER NAME: one of them, and how much it reaches.
fuzz() {
  local fuzzer=$1 name=$2 status=0 dictionary=()
  if [ -s "$here/seeds/$name.dict" ]; then dictionary=("-dict=$here/seeds/$name.dict"); fi
  "$fuzzer" -max_total_time="$seconds" -max_len=20000 -rss_limit_mb=2048 -timeout=20 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$here/findings/$name-" \
    "${dictionary[@]}" "$here/corpus/$name" "$here/seeds/$name" || status=$?
  if $coverage; then
    # The list of functions is written to standard error.
    "$fuzzer" -runs=0 -max_len=20000 -rss_limit_mb=2048 -verbosity=0 -print_coverage=1 \
      "$here/corpus/$name" "$here/seeds/$name" 2>&1 |
      /usr/bin/python3 tests/fuzz/coverage.py "$name" . || true
  fi
  return $status
}

# One a core at a time; what one prints stays together.
names=()
for fuzzer in "${fuzzers[@]}"; do
  name=$(basename "$fuzzer" _fuzzer)
  names+=("$name")
  mkdir -p "$here/corpus/$name" "$here/findings"
  while [ "$(jobs -rp | wc -l)" -ge "${RAPIDEYE_JOBS:-$(nproc)}" ]; do wait -n || true; done
  printf '== %s, %d s\n' "$name" "$seconds"
  { fuzz "$fuzzer" "$name" && : >"$logs/$name.passed"; } >"$logs/$name" 2>&1 &
done
wait

found=()
for name in "${names[@]}"; do
  printf '== %s\n' "$name"
  cat "$logs/$name"
  if [ ! -e "$logs/$name.passed" ]; then found+=("$name"); fi
done
for name in "${found[@]}"; do
  echo "tests/fuzz/run.sh: the fuzzer $name found something:"
  for finding in "$here/findings/$name"-*; do
    printf '  %s\n' "$finding"
    # Another machine's findings are gone with it; base64 -d makes one again from its text.
    if [ "$(stat -c %s "$finding")" -le 1000 ]; then printf '  %s\n' "$(base64 -w 0 "$finding")"; fi
  done
done
[ ${#found[@]} -eq 0 ]
