#!/bin/bash
# Debian packages for Debian 12 and Ubuntu 22.04.
#
#   deb.sh ROOT STAGE VERSION WORK OUT
set -euo pipefail
root=$1
stage=$2
version=$3
work=$4
out=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

tree=$work/deb/rapideye-$version
mkdir -p "$tree/debian/source"
cp -a "$stage/." "$tree"
rm "$tree/libraries.tsv"
cp -a "$here/debian/." "$tree/debian"
mv "$tree/debian/source.format" "$tree/debian/source/format"
chmod +x "$tree/debian/rules"
# It may have been left out.
if [ -e "$tree/libexec/rapideye/py-spy" ]; then
  echo libexec/rapideye/py-spy usr/lib/rapideye/libexec/rapideye >>"$tree/debian/rapideye-agent.install"
fi
cat >"$tree/debian/changelog" <<TEXT
rapideye ($version) stable; urgency=medium

  * Release $version, commit $RAPIDEYE_COMMIT: see CHANGELOG.md.

 -- rapideye maintainers <maintainers@rapideye.invalid>  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
TEXT
cp "$root/LICENSE" "$tree/debian/copyright"

# A package's files lie below /usr; an administrator's own build, below /usr/local.
for unit in agent coordinator; do
  sed 's|/usr/local/|/usr/|g' "$root/deploy/systemd/rapideye-$unit.service" \
    >"$tree/debian/rapideye-$unit.service"
done
sed 's|/usr/local/|/usr/|g' "$root/deploy/systemd/rapideye-remover.service" \
  >"$tree/debian/rapideye-tools.rapideye-remover.service"
for unit in agent coordinator; do
  cp "$root/deploy/systemd/rapideye-$unit.sysusers" "$tree/debian/rapideye-$unit.sysusers"
done
cp "$root/deploy/systemd/rapideye-remover.sysusers" "$tree/debian/rapideye-tools.sysusers"
cp "$root/deploy/systemd/rapideye.tmpfiles" "$tree/debian/rapideye-common.tmpfiles"

(cd "$tree" && dpkg-buildpackage --build=binary --no-sign --no-check-builddeps >"$work/deb.log" 2>&1) ||
  { cat "$work/deb.log" >&2 && exit 1; }
cp "$work"/deb/*.deb "$out"
