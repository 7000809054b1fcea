#!/bin/bash
# Makes what is installed elsewhere, from one release build.
#
#   deploy/package.sh OUT [tarball] [deb] [image] [wheel]        default: all four
#
#   tarball   rapideye-VERSION-linux-ARCH.tar.zst: the programs with their libraries, to be
#             unpacked anywhere; needs GLIBC 2.34 and a libstdc++ of GCC 12 (Ubuntu 22.04 has both)
#   deb       rapideye-common, -agent, -coordinator and -tools, for Debian 12 and Ubuntu 22.04
#   image     rapideye-VERSION.oci.tar: an OCI image of all programs, of Debian's own packages
#   wheel     rapideye_progress (the training loop's page) and rapideye (the command)
#
# Beside them: SHA256SUMS, and sbom.spdx.json, which lists what is inside. The same commit gives
# the same bytes where the same packages of Debian are installed (SOURCE_DATE_EPOCH is the
# commit's time). Installs what it needs; the image needs root.
set -euo pipefail
root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$root/deploy/package

usage() {
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
}

out=
kinds=()
for argument in "$@"; do
  case "$argument" in
    --help | -h) usage && exit 0 ;;
    -*) echo "package.sh: unknown flag '$argument'; see --help" >&2 && exit 2 ;;
    tarball | deb | image | wheel)
      if [ -z "$out" ]; then out=$argument; else kinds+=("$argument"); fi
      ;;
    *)
      if [ -n "$out" ]; then
        echo "package.sh: unknown kind '$argument' (known: tarball deb image wheel)" >&2
        exit 2
      fi
      out=$argument
      ;;
  esac
done
[ -n "$out" ] || { usage >&2 && exit 2; }
[ ${#kinds[@]} -gt 0 ] || kinds=(tarball deb image wheel)

version=$(sed -n 's/^project(rapideye VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
# The tag is what people download by, --version what they see.
tags=$(git -C "$root" tag --points-at HEAD 'v*')
if [ -n "$tags" ] && ! grep -qxF "v$version" <<<"$tags"; then
  echo "package.sh: this commit bears the tag ${tags//$'\n'/, }, but CMakeLists.txt says version $version;" \
    "tag it v$version or change the version" >&2
  exit 2
fi

"$root/deploy/install-dependencies.sh" build package
RAPIDEYE_COMMIT=$(git -C "$root" rev-parse --short=12 HEAD)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export RAPIDEYE_COMMIT SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1
umask 022

# Configured by the first, told the commit by the second.
"$root/deploy/build.sh" release common_release >&2
cmake -DRAPIDEYE_COMMIT="$RAPIDEYE_COMMIT" "$root/build/release" >/dev/null
"$root/deploy/build.sh" release rapideye rapideye-agent rapideye-coordinator >&2

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One staged tree, of which all kinds are made: what is in it was checked once.
"$here/stage.sh" "$root" "$work/stage" >&2
for kind in "${kinds[@]}"; do
  "$here/$kind.sh" "$root" "$work/stage" "$version" "$work" "$out" >&2
done
/usr/bin/python3 "$here/sbom.py" "$work/stage" "$version" >"$out/sbom.spdx.json"
rm -f "$out/SHA256SUMS"
(cd "$out" && find . -maxdepth 1 -type f -printf '%P\n' | sort | xargs -d '\n' sha256sum) >"$work/sums"
cp "$work/sums" "$out/SHA256SUMS"
cat "$out/SHA256SUMS"
