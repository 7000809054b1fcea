#!/bin/bash
# Agents and coordinators of 0.1 and of this tree, together; and the state of 0.1.
#
#   tests/freeze/old_and_new.sh [BUILD]      (default: build/dev)
#
# Builds the agent and the coordinator of 0.1 from the history, in build/0.1, and
#   1. runs a small real job that hangs, with the agents of 0.1 and this coordinator,
#      and the other way round, for some faults; each verdict must be right;
#   2. lets 0.1 alone diagnose two hangs, with a hook, and starts this tree's
#      coordinator on the state directory: nothing is lost, changed or done again;
#   3. runs one more such job on that state directory, with this tree's programs.
# Exit status 77 if the history is not in this clone. Takes about two minutes, and
# the first time as long as a build.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
new=$(realpath "${1:-build/dev}")/bin
exec </dev/null

# The last commit of 0.1.
commit=777f0f1a8e9125fab94f2351a933cd5f60015cc9
git=(git -c "safe.directory=*")
if ! "${git[@]}" cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "the history of this clone does not reach back to $commit: fetch all of it"
  exit 77
fi
daemons=(rapideye rapideye-agent rapideye-coordinator)
for program in "${daemons[@]}" testbed testbed-worker; do
  [ -x "$new/$program" ] || { echo "$new/$program is missing: run deploy/build.sh dev" >&2 && exit 1; }
done

tree=build/0.1
if [ ! -e "$tree/.unpacked" ]; then
  rm -rf "$tree"
  mkdir -p "$tree"
  "${git[@]}" archive "$commit" | tar -x -C "$tree"
  touch "$tree/.unpacked"
fi
"$tree/deploy/build.sh" dev "${daemons[@]}"
old=$PWD/$tree/build/dev/bin

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The testbed takes the daemons from its own folder: one with those that are to meet.
# folder NAME AGENT COORDINATOR
folder() {
  mkdir "$scratch/$1"
  cp "$new/testbed" "$scratch/$1"
  ln -s "$new/testbed-worker" "$new/rapideye" "$scratch/$1"
  ln -s "$2" "$scratch/$1/rapideye-agent"
  ln -s "$3" "$scratch/$1/rapideye-coordinator"
}

# job FOLDER ARGUMENT...: the verdict on a hang of a small job must be right.
job() {
  local programs=$1 log
  shift
  log=$scratch/$programs.log
  if timeout 120 "$scratch/$programs/testbed" "$@" >"$log" 2>&1; then
    echo "right: $programs: $*"
  else
    echo "WRONG: $programs: $*"
    cat "$log"
    failed=1
  fi
}

# The testbed's flags are those of this tree: a coordinator of 0.1 does not know all.
cat >"$scratch/old-coordinator-program" <<END
#!/bin/bash
known=()
for argument in "\$@"; do
  [[ "\$argument" == --agent-identity-template=* ]] || known+=("\$argument")
done
exec "$old/rapideye-coordinator" "\${known[@]}"
END
chmod +x "$scratch/old-coordinator-program"
folder old-agents "$old/rapideye-agent" "$new/rapideye-coordinator"
folder old-coordinator "$new/rapideye-agent" "$scratch/old-coordinator-program"
state=$scratch/jobs
for programs in old-agents old-coordinator; do
  job "$programs" --fault=bad-chip --state-dir="$state/$programs/bad-chip"
  job "$programs" --fault=different-module --tls --state-dir="$state/$programs/different-module"
  job "$programs" --fault=link-cut --programs=2 --state-dir="$state/$programs/link-cut"
  job "$programs" --fault=process-kill --state-dir="$state/$programs/process-kill"
done

# The coordinator's environment and flags are the testbed's: a hook is added here.
hook=$scratch/hook
cat >"$hook" <<END
#!/bin/sh
echo "\$RAPIDEYE_INCIDENT" >>"$scratch/runs"
END
chmod +x "$hook"
for version in old new; do
  cat >"$scratch/$version-with-hook" <<END
#!/bin/sh
exec "${!version}/rapideye-coordinator" "\$@" --hook="$hook"
END
  chmod +x "$scratch/$version-with-hook"
  folder "all-$version" "${!version}/rapideye-agent" "$scratch/$version-with-hook"
done
: >"$scratch/runs"
job all-old --fault=bad-chip --slices=1 --tasks=3 --state-dir="$scratch/state"
job all-old --fault=different-module --slices=1 --tasks=3 --state-dir="$scratch/state"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/freeze/takeover.py "$old" "$new" "$scratch/state" \
  "$scratch/runs" "$hook" || failed=1
job all-new --fault=bad-chip --slices=1 --tasks=3 --state-dir="$scratch/state"
if [ "$(find "$scratch/state/incidents" -mindepth 1 -maxdepth 1 | wc -l)" != 3 ]; then
  echo "WRONG: there should be three incidents"
  ls "$scratch/state/incidents"
  failed=1
fi
exit $failed
