#!/bin/bash
# Shows how what is frozen differs between a commit and the working tree.
#
#   tests/freeze/difference.sh [COMMIT]      (default: HEAD)
#
# Builds the tests of this folder twice, here and of COMMIT in a scratch folder, lets
# both write the bytes whose sums are committed, and prints the difference.
# GTEST_FILTER='*Samples' in the environment keeps it short. Exit status 0: there
# is none; 1: it was printed; 2: it could not be told.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
commit=${1:-HEAD}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# output ROOT FOLDER: builds ROOT's frozen tests, which write their bytes to FOLDER.
output() {
  local tests name
  tests=$(sed -n 's/^ *\(freeze_[a-z_]*_test\)$/\1/p' "$1/tests/freeze/CMakeLists.txt")
  # shellcheck disable=SC2086  # one word a test
  "$1/deploy/build.sh" dev $tests >&2 || exit 2
  for name in $tests; do
    # That sums differ is what is being looked at.
    RAPIDEYE_FROZEN_OUTPUT=$2 RAPIDEYE_TEST_DATA=$1/tests/freeze \
      "$1/build/dev/tests/freeze/$name" >&2 || true
  done
}

mkdir "$scratch/tree" "$scratch/then" "$scratch/now"
git archive "$commit" | tar -x -C "$scratch/tree" || exit 2
if [ ! -e "$scratch/tree/tests/freeze/CMakeLists.txt" ]; then
  echo "$commit has nothing frozen: take a later commit" >&2
  exit 2
fi
output "$scratch/tree" "$scratch/then"
output "$PWD" "$scratch/now"
cd "$scratch"
diff --recursive --unified "then" now
