#!/bin/bash
# Installs the Debian 12 packages that are missing; does nothing (in well under
# a second) when none is.
#
#   deploy/install-dependencies.sh [build] [test] [job] [full] [package]
#
#   build   what every build needs, the demo included (default)
#   test    what tests/run.sh needs beyond that
#   job     what a real JAX job needs beyond the build (tests/jobs); JAX itself comes from PyPI
#   package what deploy/package.sh needs beyond the build
#   full    what tests/run.sh --full and the asan preset need beyond that
#
# Needs root, or sudo. Exit status 0: everything is there.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build ccache
  protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libgrpc++-dev libabsl-dev
  libspdlog-dev nlohmann-json3-dev libcli11-dev libutfcpp-dev zlib1g-dev libssl-dev libre2-dev
  prometheus-cpp-dev libmicrohttpd-dev libmnl-dev libcurl4-openssl-dev libsqlite3-dev libpq-dev
  libgtest-dev libgmock-dev libbenchmark-dev
)
test_packages=(
  binutils elfutils python3 python3-jsonschema python3-yaml git openssl shellcheck iproute2
  clang-format-19 clang-tidy-19 postgresql-15 sqlite3
  slurmctld slurmd slurm-client munge
)
job_packages=(python3-venv python3-fusepy iproute2 iptables openssl elfutils)
# Another package may own /usr/bin/kubectl; Debian's could then not be installed.
command -v kubectl >/dev/null || test_packages+=(kubernetes-client)
package_packages=(patchelf zstd help2man debhelper dpkg-dev umoci mmdebstrap python3-build
  python3-setuptools python3-wheel python3-venv)
full_packages=(clang-19 libclang-rt-19-dev lld-19 llvm-19 chromium systemd-container
  etcd-server)
# As above; npm fetches what the tests of the pages need.
command -v npm >/dev/null || full_packages+=(npm)

packages=()
for group in "${@:-build}"; do
  case "$group" in
    build) packages+=("${build_packages[@]}") ;;
    test) packages+=("${test_packages[@]}") ;;
    job) packages+=("${job_packages[@]}") ;;
    package) packages+=("${package_packages[@]}") ;;
    full) packages+=("${full_packages[@]}") ;;
    *)
      echo "install-dependencies.sh: unknown group '$group' (known: build test job full package)" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "install-dependencies.sh: this is no Debian; install by hand: ${packages[*]}" >&2
  exit 1
fi

# One query for all. Packages that dpkg has never heard of make it fail and are
# simply not listed.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' \
  "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Other systems have packages of most of these names, in versions with which the build fails.
# shellcheck disable=SC1091 # the system's own
system=$(. /etc/os-release && echo "${ID:-unknown} ${VERSION_ID:-}")
case $system in
  "debian "[1-9] | "debian 1"[01] | [!d]* | d[!e]*)
    echo "install-dependencies.sh: this is $system, and the build needs packages of Debian 12." >&2
    echo "What deploy/package.sh makes there runs wherever GLIBC is 2.34 or newer, as on Ubuntu 22.04." >&2
    exit 1
    ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-dependencies.sh: missing packages, and neither root nor sudo to install them." >&2
    echo "As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y
  -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)
echo "Installing ${#missing[@]} packages: ${missing[*]}" >&2
# A third-party package source that is out of order must not stand in the way
# of Debian's own; if one of ours could not be found, the install says so.
"${apt[@]}" update </dev/null >/dev/null || echo "apt-get update failed; trying with what is known" >&2
if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >/dev/null; then
  echo "install-dependencies.sh: apt-get could not install: ${missing[*]}" >&2
  echo "They are in Debian 12 (bookworm) main; check /etc/apt/sources.list and the network." >&2
  exit 1
fi
