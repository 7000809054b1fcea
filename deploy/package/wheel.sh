#!/bin/bash
# Python wheels: rapideye_progress, the training loop's page; rapideye, which carries the command
# with its libraries.
#
#   wheel.sh ROOT STAGE VERSION WORK OUT
set -euo pipefail
root=$1
stage=$2
version=$3
work=$4
out=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# --no-isolation: setuptools and wheel are Debian's, nothing is fetched.
build() {
  (cd "$1" && /usr/bin/python3 -m build --wheel --no-isolation --outdir "$work/wheels" >"$work/wheel.log" 2>&1) ||
    { cat "$work/wheel.log" >&2 && exit 1; }
}

mkdir -p "$work/wheels"
progress=$work/progress
mkdir -p "$progress/rapideye_progress"
cp "$here"/wheel-progress/{pyproject.toml,README.md} "$root/LICENSE" "$progress"
cp "$here"/wheel-progress/*.pyi "$progress/rapideye_progress"
cp "$root/agent/progress/rapideye_progress.py" "$progress/rapideye_progress/__init__.py"
cp "$root"/agent/progress/rapideye_progress/*.py "$progress/rapideye_progress"
printf '\n__version__ = "%s"\n' "$version" >>"$progress/rapideye_progress/__init__.py"
touch "$progress/rapideye_progress/py.typed"
sed -i "s/^version = .*/version = \"$version\"/" "$progress/pyproject.toml"
build "$progress"

command=$work/command
mkdir -p "$command/rapideye/bin" "$command/rapideye/lib"
cp "$here"/wheel-command/{pyproject.toml,README.md} "$command"
cp "$here"/wheel-command/*.py "$command/rapideye"
sed -i "s/^version = .*/version = \"$version\"/" "$command/pyproject.toml"
cp "$root/LICENSE" "$command"
cp "$stage/bin/rapideye" "$command/rapideye/bin"
# Its own libraries alone: the daemons have more.
# shellcheck disable=SC2016 # awk's own $
LD_LIBRARY_PATH='' ldd "$stage/bin/rapideye" | awk '$2 == "=>" {print $1}' | while read -r name; do
  if [ -e "$stage/lib/$name" ]; then cp "$stage/lib/$name" "$command/rapideye/lib"; fi
done
mkdir -p "$command/rapideye/licenses"
cp "$stage"/share/doc/rapideye/licenses/* "$command/rapideye/licenses"
build "$command"
# The programs are for this machine's architecture and GLIBC 2.34 or later, for any Python 3.
for wheel in "$work"/wheels/rapideye-*-py3-none-any.whl; do
  /usr/bin/python3 "$here/retag.py" "$wheel" "manylinux_2_34_$(uname -m)"
done
cp "$work"/wheels/*.whl "$out"
