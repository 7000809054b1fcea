#!/bin/bash
# deploy/install-dependencies.sh installs on Debian 12, and refuses a system whose packages cannot build the project.
set -euo pipefail
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
# Nothing is installed, and apt-get only notes that it was asked.
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$scratch" >"$scratch/bin/apt-get"
chmod +x "$scratch"/bin/*

# on ID VERSION_ID: runs the script where /etc/os-release says so.
on() {
  printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$scratch/os-release"
  rm -f "$scratch/asked"
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --map-root-user --mount sh -c 'mount --bind "$1" "$(realpath /etc/os-release)" && PATH=$2:$PATH exec "$3" build' \
    sh "$scratch/os-release" "$scratch/bin" "$script" 2>"$scratch/said"
}

if ! unshare --map-root-user --mount true 2>/dev/null; then
  echo "no mount namespace can be made here"
  exit 77
fi
for system in "debian 12" "debian 13"; do
  # shellcheck disable=SC2086 # two words
  on $system || { cat "$scratch/said" && exit 1; }
  grep -q 'install.* cmake ' "$scratch/asked"
done
for system in "ubuntu 22.04" "debian 11" "debian 9" "linuxmint 21"; do
  # shellcheck disable=SC2086 # two words
  if on $system; then echo "installs on $system" && exit 1; fi
  grep -q "this is $system, and the build needs packages of Debian 12" "$scratch/said"
  [ ! -e "$scratch/asked" ]
done
