"""What the shipped hooks share: what they are given, how they end, how they ask others.

Python 3.9 or later, standard library only.
"""

import dataclasses
import datetime
import json
import os
import re
import subprocess
import sys

# Exit status of every hook. Whatever is not 0 is tried again, with growing pauses.
DONE = 0      # done, was done before, or there is nothing to do
FAILED = 1    # the platform did not do it
MISTAKEN = 2  # a setting is missing or wrong, or the hook was called wrongly

# A name as it may stand in a command: no option, no list, no pattern. Names come from
# the hosts of the job, and "host-[0-99]" or "ALL" would be many nodes to Slurm.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
NO_NODE = {"ALL", "DEFAULT"}
CAPTURE = "capture.jsonl.gz"  # in a directory of the incident's name
OPENED, CHANGED, RECOVERED = "opened", "changed", "recovered"


class Failed(Exception):
    """The platform did not do what was asked."""


class Mistaken(Exception):
    """Nothing will work until somebody changes a setting."""


@dataclasses.dataclass
class Incident:
    id: str
    cause: str
    job: str
    remove_hosts: list  # empty: watched, refused, or a dry run
    digest: dict        # empty if nobody has it any more
    event: str = OPENED
    ended_at: str = ""  # RFC 3339; of RECOVERED
    test: bool = False  # invented by `rapideye hook-test`: nothing is to be done to any machine or job

    @staticmethod
    def given():
        """The one on standard input and in the environment."""
        try:
            digest = json.loads(sys.stdin.read() or "{}")
        except ValueError as error:
            raise Mistaken(f"standard input is no digest in JSON: {error}") from error
        if not isinstance(digest, dict):
            raise Mistaken("standard input is no digest in JSON: not an object")
        incident = os.environ.get("RAPIDEYE_INCIDENT") or str(digest.get("incidentId", ""))
        if not NAME.fullmatch(incident):
            raise Mistaken("RAPIDEYE_INCIDENT is missing, or no incident's name")
        hosts = os.environ.get("RAPIDEYE_REMOVE_HOSTS", "").split(",")
        return Incident(id=incident,
                        cause=os.environ.get("RAPIDEYE_CAUSE") or str(digest.get("cause", "")),
                        job=os.environ.get("RAPIDEYE_JOB") or str(digest.get("job", "")),
                        remove_hosts=[host for host in hosts if host],
                        digest=digest,
                        event=os.environ.get("RAPIDEYE_EVENT") or OPENED,
                        ended_at=os.environ.get("RAPIDEYE_ENDED_AT", ""),
                        test=os.environ.get("RAPIDEYE_TEST", "") not in ("", "0"))

    def remove_nodes(self):
        """What the platform calls the hosts to remove, or the hosts' own names."""
        told = os.environ.get("RAPIDEYE_REMOVE_NODES")
        if told is None:  # run by hand
            nodes = self.nodes_of_digest()
        else:
            # Never the digest's: whoever wrote it could name a node that may not be removed.
            names = told.split(",")
            if len(names) != len(self.remove_hosts):
                names = [""] * len(self.remove_hosts)
            nodes = [name or host for name, host in zip(names, self.remove_hosts)]
        for node in nodes:
            if not NAME.fullmatch(node) or node.upper() in NO_NODE:
                raise Mistaken(f"{node!r} cannot be the name of one node; nothing was done")
        return list(dict.fromkeys(nodes))

    def nodes_of_digest(self):
        named = self.digest.get("removal", {}).get("targets", []) + self.digest.get("culprits", [])
        nodes = {entry["host"]: entry["node"] for entry in named if entry.get("node")}
        return [nodes.get(host, host) for host in self.remove_hosts]

    def reason(self):
        """One line for people, without anything that a host could have written."""
        detail = str(self.digest.get("detail", ""))
        what = f"{self.cause} {detail}".strip() if re.fullmatch(r"\w*", detail) else self.cause
        return f"rapideye: {what} in incident {self.id}"

    def detected(self):
        """When, as a datetime; Mistaken if the digest does not say."""
        return time_of(self.digest.get("detectedAt"))

    def files(self):
        """The directory of the incident's files; Failed if it is not there."""
        capture = self.digest.get("files", {}).get("capture", "")
        if not capture or not os.path.isfile(capture) or os.path.getsize(capture) == 0:
            raise Failed(f"the capture is not on this machine's disk ({capture or 'no path'})")
        folder, name = os.path.split(os.path.abspath(capture))
        # A digest from a shared history may name any file of this machine.
        if name != CAPTURE or os.path.basename(folder) != self.id:
            raise Mistaken(f"{capture!r} is no capture of incident {self.id}")
        return folder


def time_of(text):
    try:
        return datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError as error:
        raise Mistaken(f"{text!r} is no time") from error


def setting(name, default=None):
    """RAPIDEYE_HOOK_<name>; Mistaken if it is not set and there is no default."""
    value = os.environ.get(f"RAPIDEYE_HOOK_{name}", "") or default
    if value is None:
        raise Mistaken(f"RAPIDEYE_HOOK_{name} is not set")
    return value


def number(name, default):
    value = setting(name, str(default))
    try:
        return float(value)
    except ValueError as error:
        raise Mistaken(f"RAPIDEYE_HOOK_{name}={value} is no number") from error


def remembered(incident, what):
    """A file by which a hook knows that it has done something for this incident:
    in RAPIDEYE_HOOK_STATE_DIR, else beside the incidents."""
    folder = os.environ.get("RAPIDEYE_HOOK_STATE_DIR")
    if not folder:
        try:
            folder = os.path.join(os.path.dirname(os.path.dirname(incident.files())), "hooks")
        except Failed as error:
            raise Mistaken(f"{error}: set RAPIDEYE_HOOK_STATE_DIR to where hooks may "
                           "remember what they did") from error
    return os.path.join(folder, f"{incident.id}.{what}")


def write_whole(path, data):
    """Writes a file so that it is there with everything, or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}.new"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def ask(*command, **environment):
    """The standard output of a command; Failed, with what it said, if it failed."""
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             env={**os.environ, **environment}, text=True, errors="replace")
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}; is it installed, and on the PATH?") from error
    if run.returncode != 0:
        said = (run.stderr.strip() or run.stdout.strip())[-1000:]
        raise Failed(f"{' '.join(command[:3])} … exited with {run.returncode}: {said}")
    return run.stdout


def main(manual, act, events=(OPENED, CHANGED)):
    """Runs act(incident), which says what it did, line by line, with print. Other events than
    these are none of its business: nothing is removed or restarted because a job recovers."""
    if sys.argv[1:] == ["--help"]:
        print(manual.strip())
        return DONE
    if len(sys.argv) > 1:
        print(f"unknown argument {sys.argv[1]!r} (see --help)", file=sys.stderr)
        return MISTAKEN
    try:
        incident = Incident.given()
        if incident.event in events:
            act(incident)
        else:
            print(f"nothing to do: {incident.event}")
        return DONE
    except Failed as error:
        print(error, file=sys.stderr)
        return FAILED
    except Mistaken as error:
        print(error, file=sys.stderr)
        return MISTAKEN


def for_each_node(incident, act):
    """act(node) for each node to remove; one that fails does not keep the others waiting."""
    if incident.test:
        print("a test: nothing is removed")
        return
    nodes = incident.remove_nodes()
    if not nodes:
        print("nothing to remove")
    failures = []
    for node in nodes:
        try:
            act(node)
        except Failed as error:
            failures.append(f"{node}: {error}")
    if failures:
        raise Failed("\n".join(failures))
