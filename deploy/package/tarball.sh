#!/bin/bash
# One directory that runs wherever it is unpacked.
#
#   tarball.sh ROOT STAGE VERSION WORK OUT
set -euo pipefail
stage=$2
version=$3
work=$4
out=$5

name=rapideye-$version-linux-$(uname -m)
rm -rf "${work:?}/$name"
cp -a "$stage" "$work/$name"
rm "$work/$name/libraries.tsv"
cat >"$work/$name/README" <<TEXT
rapideye $version. Run bin/rapideye, bin/rapideye-agent and bin/rapideye-coordinator from here, or
copy the directory to /opt and link the programs from a directory on the path: they find their
libraries beside themselves. Documents: share/doc/rapideye. Units, examples, hooks: share/rapideye.
TEXT
tar --directory="$work" --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
  --numeric-owner --format=posix --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime \
  "$name" | zstd -19 --threads=1 --quiet --force -o "$out/$name.tar.zst"
