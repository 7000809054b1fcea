#!/bin/bash
# Stages py-spy (MIT licence), by which the agent takes Python's stacks, as PyPI has it.
#
#   py-spy.sh STAGE
#
# STAGE gets libexec/rapideye/py-spy and its licence. The version and the digests stand in
# py-spy.txt. RAPIDEYE_PY_SPY=none leaves it out, where no index of Python packages is in reach;
# the agent then uses one on its PATH.
set -euo pipefail
stage=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

mkdir -p "$stage/libexec/rapideye"
if [ "${RAPIDEYE_PY_SPY:-}" = none ]; then
  echo "py-spy.sh: py-spy is left out, as RAPIDEYE_PY_SPY says"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
if ! "$work/venv/bin/pip" --quiet --disable-pip-version-check download --no-deps \
  --only-binary=:all: --require-hashes --requirement "$here/py-spy.txt" --dest "$work"; then
  echo "py-spy.sh: py-spy cannot be had: see above; RAPIDEYE_PY_SPY=none leaves it out" >&2
  exit 1
fi
/usr/bin/python3 -m zipfile --extract "$work"/py_spy-*.whl "$work/wheel"
install -m 755 "$work"/wheel/py_spy-*.data/scripts/py-spy "$stage/libexec/rapideye/py-spy"
install -D -m 644 "$work"/wheel/py_spy-*.dist-info/licenses/LICENSE \
  "$stage/share/doc/rapideye/licenses/py-spy"
