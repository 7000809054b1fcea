#!/bin/bash
# Builds from nothing: installs what is missing, configures, compiles.
#
#   deploy/build.sh PRESET [TARGET...]       PRESET: release | dev | asan
#
# The results are in build/PRESET, programs in build/PRESET/bin. When nothing
# has changed it is done in under two seconds. Objects are shared between
# clones by ccache (CCACHE_DIR, default ~/.cache/ccache). RAPIDEYE_JOBS sets how
# many compilers run at once (default: one a core).
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-}
case "$preset" in
  release | dev) groups=(build) ;;
  asan) groups=(build full) ;;
  *)
    echo "usage: deploy/build.sh release|dev|asan [TARGET...]" >&2
    exit 2
    ;;
esac
shift

deploy/install-dependencies.sh "${groups[@]}"

build=build/$preset
mkdir -p "$build"
# Two builds of one directory would spoil each other: the second one waits.
exec 9>"$build/.lock"
flock 9

# Ninja itself configures again when a CMakeLists.txt changed, but knows nothing
# of the presets, nor that the clone has moved.
if [ ! -e "$build/build.ninja" ] || [ CMakePresets.json -nt "$build/.configured" ] ||
  [ "$(cat "$build/.configured")" != "$PWD" ]; then
  cmake --fresh --preset "$preset" >"$build/configure.log" 2>&1 </dev/null || {
    cat "$build/configure.log" >&2
    exit 1
  }
  echo "$PWD" >"$build/.configured"
fi

ninja -C "$build" -j "${RAPIDEYE_JOBS:-$(nproc)}" "$@" </dev/null 9>&-
