#!/bin/bash
# Makes the certificates for one job: a CA, one for the coordinator, one for operators,
# one for each agent. For hosts without a certificate service of their own.
#
#   deploy/certificates.sh [--workers=SLICESxTASKS] [--machines=FILE] DIRECTORY COORDINATOR...
#
#   --workers     one for the agent of each worker: agent-SLICE-TASK.{crt,key} of the name
#                 rapideye-agent-SLICE-TASK; the coordinator gets
#                 --agent-identity-template=rapideye-agent-{slice}-{task}. Without it there
#                 is one agent.{crt,key}, and any agent may speak for any worker
#   --machines    a line a worker: SLICE TASK HOST [NODE [HARDWARE]]. Their certificates name
#                 the machine, too, and are rapideye-host-agent: for agents whose key the job
#                 cannot read, and --direct-evidence-from=rapideye-host-agent
#   DIRECTORY     where ca.crt, coordinator.{crt,key}, operator.{crt,key} and the agents' go;
#                 it must not hold certificates yet
#   COORDINATOR   a DNS name or IP address by which agents reach the coordinator
#
# --operator-identity=rapideye-operator keeps agents from reading and asking. Each host
# gets its own agent's key and no other. RAPIDEYE_CERTIFICATE_DAYS sets how long they hold
# (default 365). The CA's key is ca.key: keep it off the hosts of the job, or delete it
# when no further certificate is needed.
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}
workers=
machines=
while [[ ${1:-} == --* ]]; do
  case "$1" in
    --workers=*) workers=${1#*=} ;;
    --machines=*) machines=$(realpath "${1#*=}") ;;
    *) usage ;;
  esac
  shift
done
[ $# -ge 2 ] || usage
[[ -z $workers || $workers =~ ^[1-9][0-9]*x[1-9][0-9]*$ ]] || usage
directory=$1
shift
days=${RAPIDEYE_CERTIFICATE_DAYS:-365}

mkdir -p "$directory"
cd "$directory"
if [ -e ca.crt ]; then
  echo "certificates.sh: $PWD/ca.crt is there already; choose another directory" >&2
  exit 1
fi
umask 077

names=()
for name in "$@"; do
  if [[ $name =~ ^[0-9.]+$ || $name == *:* ]]; then names+=("IP:$name"); else names+=("DNS:$name"); fi
done
san=$(IFS=,; echo "${names[*]}")

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${new_key[@]}" -keyout ca.key -out ca.crt -days "$days" -subj /CN=rapideye-ca \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null

# sign NAME USAGE SAN
sign() {
  openssl req "${new_key[@]}" -keyout "$1.key" -out "$1.csr" -subj "/CN=rapideye-$1" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" \
    -days "$days" -extfile <(printf '%s\n' "extendedKeyUsage=$2" "subjectAltName=$3") 2>/dev/null
  rm "$1.csr"
}
# sign_machine SLICE TASK HOST [NODE [HARDWARE]]
sign_machine() {
  local san="DNS:rapideye-agent-$1-$2,DNS:rapideye-host-agent" kind
  local -a kinds=(host node hardware)
  if [[ ! $1 =~ ^[0-9]+$ || ! $2 =~ ^[0-9]+$ || $# -lt 3 || $# -gt 5 ]]; then
    echo "certificates.sh: $machines: not SLICE TASK HOST [NODE [HARDWARE]]: $*" >&2
    exit 1
  fi
  local slice=$1 task=$2
  shift 2
  for kind in "${kinds[@]:0:$#}"; do
    # Anything else would have to be percent-encoded.
    if [[ ! $1 =~ ^[A-Za-z0-9._~-]+$ ]]; then
      echo "certificates.sh: $machines: cannot be put into a certificate as it is: $1" >&2
      exit 1
    fi
    san+=",URI:rapideye://$kind/$1"
    shift
  done
  sign "agent-$slice-$task" clientAuth "$san"
}

sign coordinator serverAuth "$san"
sign operator clientAuth DNS:rapideye-operator
if [ -n "$machines" ]; then
  while read -r -a line; do
    if [ ${#line[@]} -gt 0 ]; then sign_machine "${line[@]}"; fi
  done <"$machines"
fi
if [ -n "$workers" ]; then
  for ((slice = 0; slice < ${workers%x*}; ++slice)); do
    for ((task = 0; task < ${workers#*x}; ++task)); do
      name=agent-$slice-$task
      [ -e "$name.crt" ] || sign "$name" clientAuth "DNS:rapideye-$name"
    done
  done
elif [ -z "$machines" ]; then
  sign agent clientAuth DNS:rapideye-agent
fi
rm -f ca.srl

echo "$PWD: ca.crt, and .crt and .key of coordinator, operator and agents, for $* ($days days)"
