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

before=$(sha256sum ca.crt)
if "$script" "$scratch/tls" coordinator.example 2>/dev/null; then
  echo "made certificates twice in one directory" && exit 1
fi
[ "$before" = "$(sha256sum ca.crt)" ]
