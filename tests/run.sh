#!/bin/bash
# The one test command: installs what is missing, builds, runs all tests.
#
#   tests/run.sh [--full | --long] [--filter=REGEX]
#
#   (neither)        every test that has neither the label "full" nor "long", in the dev
#                    build. Its budget is 15 minutes from an empty compiler cache on
#                    two idle cores; about 5 where everything is built.
#   --full           also clang-tidy, the longer end-to-end tests, the release build with its
#                    benchmarks and the tests that try at random, 10,000 simulations with a
#                    lying agent, all tests but those labelled "fault" under the address and
#                    undefined-behaviour sanitizers (clang), longer fuzzing, and simulations
#                    under them. What .ci/run calls; its budget is 60 minutes.
#   --long           all of --full, the tests with the label "long" (clang-tidy of every file by
#                    itself among them), an hour in which the parts of a job come and go, 15
#                    minutes of each fuzzer, with the coverage of its sources, and an hour of
#                    simulations: some six hours in all. Run by hand before a release.
#   --filter=REGEX   only tests whose name matches (names: ctest -N --test-dir build/dev)
#
# Labels (rapideye_test and rapideye_check in .cmake/Rapideye.cmake give them):
#   static     reads the text or the objects of the project, or judges the generators of
#              tests: gives the same in every build, and runs in one only
#   full       takes too long for a change of a line: with --full and --long only
#   long       takes as long as it takes: with --long only, in the release build
#   release    tries more the faster it is: in the release build, too
#   bench      a benchmark, of which each case is run once: in the release build, too, and not
#              under sanitizers
#   realtime   waits for processes, sockets, databases or the clock: see below
#   fault      a fault in a whole job that unit tests and scenarios have, too: under the
#              sanitizers with --long only
#   e2e, fuzz  what kind of test it is, to choose by (ctest -L)
#
# A test labelled realtime that fails is run once more, alone: what else the machine did
# may have been at fault. If it passes then, it counts as passed and is printed
# with its first failure. No other test is run twice, and none where more than ten failed.
#
# What this machine lacks (root, namespaces, ...) skips its tests with the reason. With
# CI=true in the environment a skip that tests/allowed_skips.toml does not list fails.
#
# Prints the time of each phase, the ten slowest tests, what passed at the second try,
# skips and failures, and ends with `N passed, N failed, N skipped`; exit status 0 only
# if nothing failed. RAPIDEYE_JOBS sets how much runs at once (default: one a core),
# RAPIDEYE_FUZZ_SECONDS how long each fuzzer runs (--full 15, --long 900),
# RAPIDEYE_SIM_SECONDS how long is simulated (30, 3600) from RAPIDEYE_SIM_SEED on.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

full=false
long=false
filter=()
for argument in "$@"; do
  case "$argument" in
    --full) full=true ;;
    --long) full=true long=true ;;
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
# When so many fail, it is no accident, and one after another would take too long.
most_second_tries=10
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
phases=$scratch/phases
: >"$phases"

# phase NAME: says what comes, and when, since the whole may take long.
phase() { printf '\n== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# step NAME COMMAND...: one case, passed if the command succeeds.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  phase "$name"
  "$@" || status=$?
  if [ $status -eq 0 ]; then
    printf 'step\tpassed\t%d\t%s\n' $((SECONDS - start)) "$name" >>"$phases"
  else
    printf 'step\tfailed\t%d\t%s\texit status %d\n' $((SECONDS - start)) "$name" $status >>"$phases"
  fi
  return $status
}

# run_ctest KIND PRESET CTEST-ARGUMENT...: one run of ctest, of this KIND for the summary.
# Fails if a test did.
run_ctest() {
  local kind=$1 preset=$2 start=$SECONDS status=0
  local reports=build/$preset/Testing/gtest kept=$scratch/$preset.$kind
  shift 2
  rm -rf "$reports"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore \
    --output-junit "$kept.xml" "$@" || status=$?
  # A second run writes its own.
  if [ -d "$reports" ]; then mv "$reports" "$kept"; fi
  printf '%s\t%s\t%d\t%s\t%s\n' "$kind" "$preset" $((SECONDS - start)) "$kept.xml" "$kept" \
    >>"$phases"
  return $status
}

# failed_in_real_time PRESET: names of the last run's failures that are run again.
failed_in_real_time() {
  local list=build/$1/Testing/Temporary/LastTestsFailed.log
  [ -e "$list" ] || return 0
  comm -12 <(sed 's/^[0-9]*://' "$list" | sort) \
    <(ctest --test-dir "build/$1" --show-only -L '^realtime$' |
      sed -n 's/^ *Test *#[0-9]*: //p' | sort)
}

# tests PRESET CTEST-ARGUMENT...: every test of a preset that has been built.
tests() {
  local preset=$1
  shift
  phase "tests, $preset"
  # A test counts as two where it keeps a core busy: see PROCESSORS in Rapideye.cmake.
  run_ctest ctest "$preset" --parallel $((2 * RAPIDEYE_JOBS)) "${filter[@]}" "$@" && return
  local again
  mapfile -t again < <(failed_in_real_time "$preset")
  [ ${#again[@]} -gt 0 ] || return 0
  if [ ${#again[@]} -gt $most_second_tries ]; then
    echo "${#again[@]} tests in real time failed: more than $most_second_tries are not run again"
    return 0
  fi
  phase "tests, $preset, again: ${again[*]}"
  run_ctest again "$preset" --parallel 1 -R "^($(IFS='|' && echo "${again[*]}"))\$" || true
}

groups=(build test)
! $full || groups+=(job full package)
if step "install packages" deploy/install-dependencies.sh "${groups[@]}"; then
  # What only the tests of --full need is not built without.
  targets=()
  $full || targets=(default_tests rapideye example-pages testbed)
  if step "build dev" deploy/build.sh dev "${targets[@]}"; then
    if [ ${#filter[@]} -gt 0 ] &&
      ctest --test-dir build/dev --show-only "${filter[@]}" | grep -q '^Total Tests: 0$'; then
      printf 'step\tfailed\t0\tfilter\tno test has such a name\n' >>"$phases"
    fi
    if $full; then tests dev -LE '^long$'; else tests dev -LE '^(full|long)$'; fi
  fi
  if $full; then
    fuzz_seconds=15 sim_seconds=30
    release_tests=(-L '^(release|bench)$' -LE '^long$')
    sanitized_targets=(all) sanitized_tests=(-LE '^(static|long|fault)$')
    if $long; then
      fuzz_seconds=900 sim_seconds=3600
      release_tests=(-L '^(release|bench|long)$')
      sanitized_targets=(all fault_tests) sanitized_tests=(-LE '^(static|long)$')
    fi
    # The checks of text and objects are done: from here on only what runs.
    if step "build release" deploy/build.sh release programs benchmarks release_tests; then
      # More scenarios of each kind than they try by themselves. What is no faster here
      # runs in the other two builds.
      RAPIDEYE_PROPERTY_SEEDS=${RAPIDEYE_PROPERTY_SEEDS:-300} tests release "${release_tests[@]}"
      if [ ${#filter[@]} -eq 0 ]; then
        step "simulate liars" build/release/bin/rapideye-sim --liar --count=10000 \
          --threads="$RAPIDEYE_JOBS" --seed="${RAPIDEYE_SIM_SEED:-10000}" || true
      fi
      if $long && [ ${#filter[@]} -eq 0 ]; then
        step "chaos" build/release/bin/testbed-chaos --duration=1h --tls || true
      fi
    fi
    if step "build asan" deploy/build.sh asan "${sanitized_targets[@]}"; then
      RAPIDEYE_PROPERTY_SEEDS=${RAPIDEYE_PROPERTY_SEEDS:-40} tests asan "${sanitized_tests[@]}"
      if [ -x tests/fuzz/run.sh ] && [ ${#filter[@]} -eq 0 ]; then
        coverage=()
        if $long; then coverage=(--coverage); fi
        step "fuzz" tests/fuzz/run.sh "${coverage[@]}" \
          "${RAPIDEYE_FUZZ_SECONDS:-$fuzz_seconds}" || true
      fi
      if [ ${#filter[@]} -eq 0 ]; then
        # Always the same seeds, so that a failure is the change's; others by hand.
        step "simulate" build/asan/bin/rapideye-sim --count=1000000 \
          --threads="$RAPIDEYE_JOBS" --seed="${RAPIDEYE_SIM_SEED:-10000}" \
          --seconds="${RAPIDEYE_SIM_SECONDS:-$sim_seconds}" || true
      fi
    fi
  fi
fi

phase "outcome"
/usr/bin/python3 tests/summary.py "$phases"
