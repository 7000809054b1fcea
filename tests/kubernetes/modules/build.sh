#!/bin/bash
# Builds the programs of a real Kubernetes from Go modules of pinned versions: API server,
# controller manager and scheduler, and kwok, whose nodes and pods only pretend.
#
#   build.sh FOLDER
#
# FOLDER then holds the programs, stages.yaml (how kwok's nodes and pods pretend) and cert-manager.yaml
# (its kinds of objects); programs that are there are kept. It takes Go 1.26, some 800 seconds of a
# processor once, and 3 GB of Go's own caches. Exit status 69: Go is missing, too old, or finds no
# modules; the last line says so.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"

# Debian 12's Go is older than these modules demand, and must not fetch another by itself.
export GOTOOLCHAIN=local GOFLAGS='-buildvcs=false -mod=readonly' CGO_ENABLED=0
if ! command -v go >/dev/null; then
  echo "no Go here: install Go 1.26"
  exit 69
fi
for module in kubernetes kwok cert-manager; do
  if ! said=$(cd "$module" && go mod download 2>&1); then
    echo "$(go version) does not get the modules of $module: ${said##*$'\n'}"
    exit 69
  fi
done

# Without it the server says v0.0.0, and clients refuse to talk to it.
version=$(cd kubernetes && go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*}"

# build MODULE PACKAGE: beside its name first, so that what was broken off is not taken for whole.
build() {
  local name=${2##*/}
  [ ! -x "$folder/$name" ] || return 0
  echo "building $name"
  (cd "$1" && go build -trimpath -ldflags="$flags" -o "$folder/.$name" "$2")
  mv "$folder/.$name" "$folder/$name"
}
build kubernetes k8s.io/kubernetes/cmd/kube-apiserver
build kubernetes k8s.io/kubernetes/cmd/kube-scheduler
build kubernetes k8s.io/kubernetes/cmd/kube-controller-manager
build kwok sigs.k8s.io/kwok/cmd/kwok

# join FILE...: documents of YAML, one after the other.
join() {
  local file
  for file in "$@"; do
    echo ---
    cat "$file"
  done
}
kwok=$(cd kwok && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
join "$kwok"/kustomize/stage/{node/fast/node-initialize,node/heartbeat-with-lease/node-heartbeat-with-lease}.yaml \
  "$kwok"/kustomize/stage/pod/fast/pod-{ready,delete}.yaml >"$folder/stages.yaml"
join "$(cd cert-manager && go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/*.yaml \
  >"$folder/cert-manager.yaml"
