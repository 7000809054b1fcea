#!/bin/bash
# The certificates that the guide has people make are what the daemons want: signed
# by the CA, for the right use and name, keys closed to others, never overwritten.
set -euo pipefail
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$script" "$scratch/tls" coordinator.example 10.0.0.1
cd "$scratch/tls"
openssl verify -CAfile ca.crt -purpose sslserver -verify_hostname coordinator.example coordinator.crt
openssl verify -CAfile ca.crt -purpose sslserver -verify_ip 10.0.0.1 coordinator.crt
openssl verify -CAfile ca.crt -purpose sslclient agent.crt
if openssl verify -CAfile ca.crt -purpose sslserver agent.crt >/dev/null 2>&1; then
  echo "the agents' certificate can pose as the coordinator's" && exit 1
fi
if openssl verify -CAfile ca.crt -verify_hostname other.example coordinator.crt >/dev/null 2>&1; then
  echo "the coordinator's certificate holds for any name" && exit 1
fi
[ "$(stat -c %a ca.key coordinator.key agent.key | sort -u)" = 600 ]

openssl verify -CAfile ca.crt -purpose sslclient operator.crt

# One for each agent, of its worker, and of its machine where that is told.
printf '%s\n' '0 1 tpu-1 node-1 i-4711' '' '1 0 tpu-2' >"$scratch/machines"
"$script" --workers=2x2 --machines="$scratch/machines" "$scratch/workers" coordinator.example
names() { openssl x509 -in "$scratch/workers/$1.crt" -noout -ext subjectAltName; }
for worker in 0-0 0-1 1-0 1-1; do
  openssl verify -CAfile "$scratch/workers/ca.crt" -purpose sslclient "$scratch/workers/agent-$worker.crt"
  names "agent-$worker" | grep -q "DNS:rapideye-agent-$worker\b"
done
for name in DNS:rapideye-host-agent URI:rapideye://host/tpu-1 URI:rapideye://node/node-1 \
  URI:rapideye://hardware/i-4711; do
  names agent-0-1 | grep -q "$name"
done
if names agent-0-0 | grep -q 'host' || names agent-1-0 | grep -q 'node/'; then
  echo "a certificate names a machine that nobody told" && exit 1
fi
printf '%s\n' '0 0 tpu-1,DNS:rapideye-agent-0-1' >"$scratch/machines"
if "$script" --machines="$scratch/machines" "$scratch/forged" coordinator.example 2>/dev/null; then
  echo "a host's name brought another name into its certificate" && exit 1
fi

before=$(sha256sum ca.crt)
if "$script" "$scratch/tls" coordinator.example 2>/dev/null; then
  echo "made certificates twice in one directory" && exit 1
fi
[ "$before" = "$(sha256sum ca.crt)" ]
