#!/bin/bash
# `cmake --install` puts the three programs, their documents and the hooks, and nothing
# else, where the units and the image expect them, and they run from there.
set -euo pipefail
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch" >/dev/null
[ "$(cd "$scratch" && find bin share/doc -type f | sort | tr '\n' ' ')" = \
  "bin/rapideye bin/rapideye-agent bin/rapideye-coordinator \
share/doc/rapideye/BESIDE_A_JOB.md share/doc/rapideye/CHANGELOG.md share/doc/rapideye/COMMANDS.md \
share/doc/rapideye/CONFIGURATION.md share/doc/rapideye/LICENSE share/doc/rapideye/PATHWAYS.md \
share/doc/rapideye/REMOVAL.md share/doc/rapideye/XPK.md " ]
[ "$(find "$scratch/share/rapideye" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" = \
  "certificates.sh hooks kubernetes monitoring postgresql progress slurm systemd " ]
[ "$(cd "$scratch" && ls)" = "$(printf 'bin\nshare')" ]
[ "$(ls "$scratch/share")" = "$(printf 'doc\nrapideye')" ]
for program in "$scratch"/bin/*; do "$program" --version; done
# Slurm runs it on every node.
[ -x "$scratch/share/rapideye/slurm/task-prolog" ]
# A hook finds what it imports beside itself.
for hook in "$scratch"/share/rapideye/hooks/*; do
  case $hook in *.py) continue ;; esac
  PYTHONDONTWRITEBYTECODE=1 "$hook" --help >/dev/null
done
grep -ohE '/usr/local/share/rapideye/hooks/[a-z-]+' "$(dirname "$0")"/../../deploy/*/*remover* |
  sort -u | while read -r used; do
    [ -x "$scratch/${used#/usr/local/}" ] || { echo "$used is not installed" && exit 1; }
  done
