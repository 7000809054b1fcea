#!/bin/bash
# An OCI image of all programs, built without a daemon: the staged tree on a minimal root of
# Debian's own packages.
#
#   image.sh ROOT STAGE VERSION WORK OUT
#
# The root holds bash, Python and eu-stack, which hooks and stacks need, and no package manager's
# caches. Files are dated by SOURCE_DATE_EPOCH.
set -euo pipefail
stage=$2
version=$3
work=$4
out=$5

if [ "$(id -u)" != 0 ]; then
  echo "image.sh: needs root: a root file system belongs to it (mmdebstrap); tarball, deb and wheel do not" >&2
  exit 1
fi

rootfs=$work/rootfs
mmdebstrap --quiet --variant=essential \
  --include=ca-certificates,elfutils,libstdc++6,python3 \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  bookworm "$rootfs"
rm -rf "$rootfs"/var/cache/* "$rootfs"/var/log/* "$rootfs"/etc/machine-id "$rootfs"/etc/hostname \
  "$rootfs"/etc/resolv.conf
# Compiled on installation: two images would differ in them.
find "$rootfs/usr/lib" "$rootfs/usr/share" -name __pycache__ -prune -exec rm -rf {} +

mkdir -p "$rootfs/usr/lib/rapideye" "$rootfs/var/lib/rapideye"
cp -a "$stage/bin" "$stage/lib" "$stage/libexec" "$rootfs/usr/lib/rapideye"
cp -a "$stage/share/rapideye" "$stage/share/doc" "$rootfs/usr/share"
for program in rapideye rapideye-agent rapideye-coordinator; do
  ln -sf "../lib/rapideye/bin/$program" "$rootfs/usr/bin/$program"
  # Where the examples of older releases look for them.
  ln -sf "../../lib/rapideye/bin/$program" "$rootfs/usr/local/bin/$program"
done
ln -sfn ../../share/rapideye "$rootfs/usr/local/share/rapideye"
# Nothing needs root. The numbers are those of the examples.
echo 'rapideye:x:8490:8490::/nonexistent:/usr/sbin/nologin' >>"$rootfs/etc/passwd"
echo 'rapideye:x:8490:' >>"$rootfs/etc/group"
chown 8490:8490 "$rootfs/var/lib/rapideye"
find "$rootfs" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference \
  --date="@$SOURCE_DATE_EPOCH" {} +

layout=$work/image
created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$layout"
umoci new --image "$layout:$version"
umoci insert --image "$layout:$version" --history.created="$created" "$rootfs" /
umoci config --image "$layout:$version" --created="$created" --history.created="$created" \
  --architecture="$(dpkg --print-architecture)" --os=linux --config.user=8490:8490 \
  --config.exposedports=8490/tcp --config.volume=/var/lib/rapideye --config.cmd=rapideye-agent \
  --config.env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --config.label=org.opencontainers.image.title=rapideye \
  --config.label="org.opencontainers.image.version=$version" \
  --config.label="org.opencontainers.image.revision=$RAPIDEYE_COMMIT"
umoci gc --layout "$layout"
tar --directory="$layout" --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
  --numeric-owner --file="$out/rapideye-$version.oci.tar" .
