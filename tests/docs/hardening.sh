#!/bin/bash
# The units as shipped are closed: what systemd itself says of their exposure (0 to 10)
# stays below a limit.
#
#   hardening.sh DEPLOY
set -euo pipefail
units=$1/systemd
if ! command -v systemd-analyze >/dev/null; then
  echo "SKIPPED: systemd-analyze is missing"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# check NAME LIMIT UNIT: the limit is in tenths.
check() {
  local said
  if said=$(systemd-analyze security --offline=yes --threshold="$2" "$3"); then
    echo "$1: ${said##*$'\n'}"
  else
    echo "$1: more exposed than $2 tenths: ${said##*$'\n'}"
    failed=1
  fi
}
for unit in rapideye-agent rapideye-coordinator rapideye-remover; do
  check "$unit" 25 "$units/$unit.service"
done
# Drop-ins are not looked for beside a unit that is a file: what they say comes last, as there.
cp "$units/rapideye-agent.service" "$scratch/rapideye-agent.service"
sed -i '/^\[Install\]/,$d' "$scratch/rapideye-agent.service"
cat "$units/rapideye-agent-hardware.conf" >>"$scratch/rapideye-agent.service"
check "rapideye-agent with hardware.conf" 35 "$scratch/rapideye-agent.service"

# The check itself can fail.
printf '[Service]\nExecStart=/bin/true\n' >"$scratch/open.service"
if systemd-analyze security --offline=yes --threshold=25 "$scratch/open.service" >/dev/null; then
  echo "a unit without any protection passes"
  failed=1
fi
exit "$failed"
