#!/bin/bash
# Makes the certificates for one job: a CA, one for the coordinator, one for its
# agents. For hosts without a certificate service of their own.
#
#   deploy/certificates.sh DIRECTORY COORDINATOR...
#
#   DIRECTORY     where ca.crt, coordinator.{crt,key} and agent.{crt,key} go; it
#                 must not hold certificates yet
#   COORDINATOR   a DNS name or IP address by which agents reach the coordinator
#
# RAPIDEYE_CERTIFICATE_DAYS sets how long they hold (default 365). The CA's key is
# ca.key: keep it off the hosts of the job, or delete it when no further
# certificate is needed.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
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
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null

# sign NAME USAGE SAN
sign() {
  openssl req "${new_key[@]}" -keyout "$1.key" -out "$1.csr" -subj "/CN=rapideye-$1" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" \
    -days "$days" -extfile <(printf '%s\n' "extendedKeyUsage=$2" "subjectAltName=$3") 2>/dev/null
  rm "$1.csr"
}
sign coordinator serverAuth "$san"
sign agent clientAuth DNS:rapideye-agent
rm -f ca.srl

echo "$PWD: ca.crt, coordinator.crt and .key, agent.crt and .key, for $* ($days days)"
