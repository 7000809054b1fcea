#!/bin/sh
# The compiler launcher: ccache set up so that all clones share their objects,
# wherever they lie and whoever starts the build (presets, ninja, an editor).
# Without ccache it just compiles.
command -v ccache >/dev/null || exec "$@"
CCACHE_BASEDIR=$(dirname "$(dirname "$0")")
CCACHE_NOHASHDIR=1
CCACHE_SLOPPINESS=pch_defines,time_macros
# Says how much memory the compiler may take, and changes no object.
CCACHE_IGNOREOPTIONS="--param=ggc-*"
export CCACHE_BASEDIR CCACHE_NOHASHDIR CCACHE_SLOPPINESS CCACHE_IGNOREOPTIONS
exec ccache "$@"
