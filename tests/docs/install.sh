#!/bin/bash
# `cmake --install` puts the three programs, and nothing else, where the units and
# the image expect them, and they run from there.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch" >/dev/null
[ "$(cd "$scratch" && find . -type f | sort | tr '\n' ' ')" = \
  "./bin/rapideye ./bin/rapideye-agent ./bin/rapideye-coordinator ./share/doc/rapideye/CONFIGURATION.md " ]
for program in "$scratch"/bin/*; do "$program" --version; done
