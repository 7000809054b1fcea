#!/bin/sh
# The compiler launcher: ccache set up so that all clones share their objects,
# wherever they lie and whoever starts the build (presets, ninja, an editor).
# Without ccache it just compiles.
command -v ccache >/dev/null || exec "$@"
CCACHE_BASEDIR=$(dirname "$(dirname "$0")")
CCACHE_NOHASHDIR=1
CCACHE_SLOPPINESS=pch_defines,time_macros
export CCACHE_BASEDIR CCACHE_NOHASHDIR CCACHE_SLOPPINESS
exec ccache "$@"
