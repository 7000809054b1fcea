#!/bin/bash
# The one test command: installs what is missing, builds, runs all tests.
#
#   tests/run.sh [--full] [--filter=REGEX]
#
#   --full           also clang-tidy, the release build with its benchmarks and the
#                    tests that try at random, all tests under the address and
#                    undefined-behaviour sanitizers (clang), longer fuzzing, and more
#                    simulations
#   --filter=REGEX   only tests whose name matches (names: ctest -N --test-dir build/dev)
#
# Ends with `N passed, N failed, N skipped`, skips and failures listed above it;
# exit status 0 only if nothing failed. RAPIDEYE_JOBS sets how much runs at once
# (default: one a core), RAPIDEYE_FUZZ_SECONDS how long --full fuzzes, and
# RAPIDEYE_SIM_SECONDS how long it simulates, from RAPIDEYE_SIM_SEED on.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

full=false
filter=()
for argument in "$@"; do
  case "$argument" in
    --full) full=true ;;
    --filter=?*) filter=(-R "${argument#--filter=}") ;;
    --help)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "tests/run.sh: unknown argument '$argument' (see --help)" >&2
      exit 2
      ;;
  esac
done

export RAPIDEYE_JOBS=${RAPIDEYE_JOBS:-$(nproc)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
phases=$scratch/phases
: >"$phases"

# phase NAME: says what comes, and when, since the whole may take long.
phase() { printf '\n== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# step NAME COMMAND...: one case, passed if the command succeeds.
step() {
  local name=$1
  shift
  phase "$name"
  if "$@"; then
    printf 'step\tpassed\t%s\n' "$name" >>"$phases"
  else
    printf 'step\tfailed\t%s\texit status %d\n' "$name" $? >>"$phases"
    return 1
  fi
}

# tests PRESET CTEST-ARGUMENT...: every test of a preset that has been built.
tests() {
  local preset=$1
  shift
  phase "tests, $preset"
  rm -rf "build/$preset/Testing/gtest"
  ctest --test-dir "build/$preset" --parallel "$RAPIDEYE_JOBS" --output-on-failure \
    --no-tests=ignore --output-junit "$scratch/$preset.xml" "${filter[@]}" "$@" || true
  printf 'ctest\t%s\t%s\t%s\n' "$preset" "$scratch/$preset.xml" "build/$preset/Testing/gtest" \
    >>"$phases"
}

groups=(build test)
! $full || groups+=(full)
if step "install packages" deploy/install-dependencies.sh "${groups[@]}"; then
  if step "build dev" deploy/build.sh dev; then
    if [ ${#filter[@]} -gt 0 ] &&
      ctest --test-dir build/dev --show-only "${filter[@]}" | grep -q '^Total Tests: 0$'; then
      printf 'step\tfailed\tfilter\tno test has such a name\n' >>"$phases"
    fi
    if $full; then tests dev; else tests dev -LE full; fi
  fi
  if $full; then
    # The checks of text and objects are done: from here on only what runs.
    if step "build release" deploy/build.sh release programs benchmarks release_tests; then
      # More scenarios of each kind than they try by themselves. What is no faster here
      # runs in the other two builds.
      RAPIDEYE_PROPERTY_SEEDS=${RAPIDEYE_PROPERTY_SEEDS:-300} tests release -L 'release|bench'
    fi
    if step "build asan" deploy/build.sh asan; then
      RAPIDEYE_PROPERTY_SEEDS=${RAPIDEYE_PROPERTY_SEEDS:-40} tests asan -LE static
      if [ -x tests/fuzz/run.sh ] && [ ${#filter[@]} -eq 0 ]; then
        step "fuzz" tests/fuzz/run.sh "${RAPIDEYE_FUZZ_SECONDS:-15}" || true
      fi
      if [ ${#filter[@]} -eq 0 ]; then
        # Always the same seeds, so that a failure is the change's; others by hand.
        step "simulate" build/asan/bin/rapideye-sim --count=1000000 \
          --seed="${RAPIDEYE_SIM_SEED:-10000}" --seconds="${RAPIDEYE_SIM_SECONDS:-30}" || true
      fi
    fi
  fi
fi

phase "outcome"
/usr/bin/python3 tests/summary.py "$phases"
