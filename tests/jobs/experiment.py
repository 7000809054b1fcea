#!/usr/bin/python3
"""One run: a job beside the daemons, one fault, and what became of it.

usage: experiment.py --fault=NAME --folder=FOLDER --python=FOLDER --bin=FOLDER [...]

Leaves result.json in the folder, and beside it the logs of everybody and the captures.
"""

import argparse
import contextlib
import datetime
import glob
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import time

import cgroups
import cost
import networks
import processes
import truth
from fault import LAST_STEP, STEADY
from faults import FAULTS
from launchers import LAUNCHERS, launched

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COORDINATOR = "coordinator"
# Without a namespace of its own every job needs ports of its own.
COORDINATOR_PORT, LEADER_PORT = 8490, 7000
START_PATIENCE = 180.0
# A runtime's own report of a hang, at which a coordinator looks at once.
HANG_LINE = (
    "E1001 15:22:33.275768    4353 megascale_hang.cc:1] Megascale hang detected: Timed out waiting "
    "for 1 graphs to complete at launch_id 1. Already completed: 0. StepGloballyInProgress: true. "
    "Timeout: 1m\n"
)
# Ways of being odd that begin with the program, and so come before the steady state.
UNTOLD = (
    *("constant", "slow-import", "slow-compilation", "exits-on-sigterm"),
    *("handler-sleeps", "stacks-printed", "rank-twice"),
)
# From an alarm to the digest: the deadline of collection, and slack for a busy machine.
COLLECTION = 20.0


class Failed(Exception):
    """The run is worth nothing: the job did not do what it should before the fault."""


class Rank:
    """A training process under `rapideye-agent exec`."""

    def __init__(self, number, folder, address):
        self.number = number
        self.host = f"host-{number}"
        self.folder = os.path.join(folder, self.host)
        self.address = address
        self.process = None
        os.makedirs(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name + ".new"), "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))

    def read(self, name):
        with contextlib.suppress(OSError):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        return ""

    def pid(self):
        return int(self.read("pid"))

    def pids(self):
        return [self.pid()] + processes.descendants(self.pid())

    def loader(self):
        """The process that reads ahead."""
        if told := self.read("loader"):
            return int(told)
        return next(
            pid
            for pid in processes.descendants(self.pid())
            if "spawn_main" in processes.command_line(pid)
        )

    def steps(self):
        """Completed ones, as the program counts them in memory of a file."""
        with contextlib.suppress(OSError):
            with open(self.path("steps"), "rb") as file:
                return int.from_bytes(file.read(8), sys.byteorder)
        return 0


class Run:
    """One job, from its start to its end; everything it started ends with `close`."""

    def __init__(self, asked):
        self.asked = asked
        self.fault = FAULTS[asked.fault].placed(asked.seed, asked.odd_rank)
        self.program = asked.program or self.fault.program
        self.folder = os.path.realpath(asked.folder)
        os.makedirs(self.folder)
        hosts = [COORDINATOR] + [f"host-{number}" for number in range(asked.ranks)]
        reason = networks.why_not()
        self.own_networks = not reason
        self.network = (
            networks.Networks(self._folder("namespaces"), hosts)
            if not reason
            else networks.Loopback()
        )
        self.groups = cgroups.Groups()
        self.checkpoints = self._folder("checkpoints")
        self.ranks = [
            Rank(number, self.folder, self.network.address(f"host-{number}"))
            for number in range(asked.ranks)
        ]
        self.leader_port = LEADER_PORT if not reason else _free_port()
        coordinator_port = COORDINATOR_PORT if not reason else _free_port()
        self.coordinator = f"{self.network.address(COORDINATOR)}:{coordinator_port}"
        self.settings_server = "127.0.0.1:9"
        self.storage = None
        self.state = self._file("coordinator")
        self.coordinator_process = None

    def rank(self, number):
        return self.ranks[number]

    def start(self):
        subprocess.run(
            [
                f"{ROOT}/deploy/certificates.sh",
                self._file("certificates"),
                self.network.address(COORDINATOR),
            ],
            check=True,
            capture_output=True,
        )
        self.start_coordinator()
        if self.fault.prepare:
            self.fault.prepare(self)
        for rank in self.ranks:
            if rank.number not in self.fault.absent:
                self.start_rank(rank)

    def start_coordinator(self):
        """Also in the place of one that is gone with its disk."""
        if os.path.exists(self.state):
            self.state = self._folder("coordinator-of-another-host")
        self.coordinator_process = processes.start(
            self.network.enter(COORDINATOR)
            + [
                f"{self.asked.bin}/rapideye-coordinator",
                f"--listen={self.coordinator}",
                "--http=off",
                "--job=train",
                "--slices=1",
                f"--tasks-per-slice={self.asked.ranks}",
                f"--state-dir={self.state}",
                "--removal=off",
                f"--startup-grace={self.asked.startup_grace}s",
                f"--launch-threshold={self.asked.launch_threshold}",
                f"--hang-threshold={self.asked.hang_threshold}",
            ]
            + self._tls("coordinator"),
            self._file("coordinator.log"),
            env=_environment(),
        )
        self.wait_for("the coordinator answers", lambda: self.ask("status"), 20)

    def break_it(self):
        """Returns when the fault came, in seconds since 1970."""
        fault = self.fault
        if fault.at == "start":
            return time.time()
        if fault.at == "told":
            return self._told()
        if fault.at == "end":
            self.wait_for("the end nears", lambda: self._slowest() >= LAST_STEP, START_PATIENCE)
            return time.time()
        # The limit of memory has to be there before the memory is taken.
        ahead = 10 if fault.odd and fault.inject and not fault.raises_nothing else 0
        self.wait_for(
            "the job is in its steady state",
            lambda: self._slowest() >= STEADY - ahead,
            START_PATIENCE,
        )
        now = time.time()
        if fault.inject:
            fault.inject(self)
        if fault.odd and fault.odd not in UNTOLD:
            now = self._told()
        return now

    def _told(self):
        """Since when the program is odd, as it says itself."""
        odd = self.rank(self.fault.rank)
        self.wait_for("the program turns odd", lambda: odd.read("odd-since"), START_PATIENCE)
        return float(odd.read("odd-since").split()[0])

    def incidents(self):
        """Complete ones, oldest first."""
        return sorted(glob.glob(f"{self.state}/incidents/*/digest.json"))

    def ask(self, *command, timeout=30):
        """What `rapideye COMMAND --format=json` prints; None: it failed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                self.network.enter(COORDINATOR)
                + [
                    f"{self.asked.bin}/rapideye",
                    *command,
                    "--format=json",
                    f"--coordinator={self.coordinator}",
                ]
                + self._tls("agent"),
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                env=_environment(),
            )
            if done.returncode == 0:
                return done.stdout
        return None

    def snapshot(self):
        """The digest of a snapshot, whose capture is kept; None: there was no answer."""
        capture = self._file("snapshot.jsonl.gz")
        text = self.ask("snapshot", f"--capture={capture}", timeout=70)
        if os.path.exists(capture):
            _unpack(capture, self._file("snapshot.jsonl"))
        return json.loads(text) if text else None

    def provoke(self):
        """Raises an alarm by a hang line, and keeps the capture: stacks are taken at an alarm only."""
        reports = _text(self._file("coordinator.log")).count("reports")
        with open(self.rank(0).path("provoked.log"), "a", encoding="ascii") as file:
            file.write(HANG_LINE)
        with contextlib.suppress(Failed):
            self.wait_for(
                "the alarm arrives",
                lambda: _text(self._file("coordinator.log")).count("reports") > reports,
                COLLECTION,
            )
        # While an alarm is looked into, its capture is the answer, even if it becomes no incident.
        capture = self._file("provoked.jsonl.gz")
        self.ask("snapshot", f"--capture={capture}", timeout=70)
        if os.path.exists(capture):
            _unpack(capture, self._file("provoked.jsonl"))

    def diagnose(self, capture):
        """The digest of a capture, as text."""
        done = subprocess.run(
            [f"{self.asked.bin}/rapideye", "diagnose", "--format=text", self._file(capture)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=_environment(),
        )
        return done.stdout

    def close(self):
        if self.storage:
            self.storage.kill()
        self.groups.thaw()
        left = processes.end_all()
        self.groups.close()
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        return left

    def serve_silently(self, rank, port, protocol="tcp"):
        """A server beside that rank that takes connections, or datagrams, and never answers."""
        port = port if self.own_networks or port == self.leader_port else _free_port()
        processes.start(
            self.network.enter(rank.host)
            + ["/usr/bin/python3", f"{HERE}/silent_server.py", rank.address, str(port), protocol],
            self._file("server.log"),
        )
        self.wait_for("the server listens", lambda: "listens" in _text(self._file("server.log")), 20)
        return f"{rank.address}:{port}"

    def mount_storage(self, rank):
        """Lets that rank see the checkpoints, not its input position, through a file system."""
        steps = os.path.join(self.checkpoints, "steps")
        os.makedirs(steps)
        self.storage = processes.start(
            self.network.enter(rank.host)
            + ["/usr/bin/python3", f"{HERE}/storage.py", steps, steps],
            self._file("storage.log"),
        )
        self.wait_for(
            "the storage is mounted",
            lambda: steps in _text(f"/proc/{self.storage.pid}/mounts"),
            20,
        )

    def start_rank(self, rank):
        fault = self.fault
        odd = (
            [f"--odd={fault.odd}", f"--odd-at={fault.odd_at}"]
            if fault.odd and rank.number in (fault.rank, *fault.also_odd)
            else []
        )
        environment = _environment(
            PATH=f"{self.asked.python}/bin:{os.environ['PATH']}",
            PYTHONUNBUFFERED="1",
            PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=f"{ROOT}/agent/progress",
        )
        agent = [
            f"--coordinator={self.coordinator}",
            "--job=train",
            "--slice=0",
            f"--task={rank.number}",
            f"--host={rank.host}",
            f"--state-dir={rank.path('agent')}",
            *([] if self.asked.sidecar else [f"--exec-log={rank.path('agent.log')}"]),
        ]
        if self.asked.provoke:
            rank.write("provoked.log", "")
            agent.append(f"--log={rank.path('provoked.log')}")
        if self.asked.page:
            environment["RAPIDEYE_PROGRESS_PAGE"] = rank.path("page")
        if fault.dumps:
            environment["XLA_FLAGS"] = f"--xla_dump_to={rank.path('programs')}"
            agent.append(f"--hlo-dump-dir={rank.path('programs')}")
        training = [
            f"{self.asked.python}/bin/python",
            f"{HERE}/job/{self.program}.py",
            f"--rank={rank.number}",
            f"--ranks={self.asked.ranks}",
            f"--leader={self.ranks[0].address}:{self.leader_port}",
            f"--folder={rank.folder}",
            f"--checkpoints={self.checkpoints}",
            f"--settings-server={self.settings_server}",
            *(["--silent", "--step-seconds=0.5"] if self.asked.silent else []),
            *fault.options,
            *odd,
        ]
        enter = self.network.enter(rank.host)
        beside = [f"{self.asked.bin}/rapideye-agent"] + agent + self._tls("agent")
        if not self.asked.sidecar:
            if self.asked.launcher:
                training = launched(self.asked.launcher, training)
            rank.process = processes.start(
                enter + beside + ["exec", "--"] + training, rank.path("log"), env=environment
            )
            return
        # The launcher has the log as its output, too.
        processes.start(
            enter + launched("script", training), rank.path("log"), env=environment
        )
        rank.process = processes.start(
            enter + beside + [f"--log={rank.path('log')}"],
            rank.path("agent.log"),
            env=environment,
        )

    def _tls(self, who):
        folder = self._file("certificates")
        return [
            f"--tls-cert={folder}/{who}.crt",
            f"--tls-key={folder}/{who}.key",
            f"--tls-ca={folder}/ca.crt",
        ]

    def _slowest(self):
        return min(rank.steps() for rank in self.ranks)

    def wait_for(self, what, condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f"not within {seconds:.0f} s: {what}; see {self.folder}")
            time.sleep(0.1)

    def text(self, name):
        """Of a file of the run; empty if there is none."""
        return _text(self._file(name))

    def _file(self, name):
        return os.path.join(self.folder, name)

    def _folder(self, name):
        os.makedirs(self._file(name))
        return self._file(name)


def observe(run, since):
    """Waits for what the fault brings about; the result as JSON."""
    fault = run.fault
    first = None
    asked = None
    meter = cost.Meter(run.ranks) if fault.name == "to-the-end" else None
    measured = {}
    patience = max(run.asked.patience, fault.patience)
    while time.time() < since + patience and not first:
        first = next(iter(run.incidents()), None)
        if fault.raises_nothing and not asked and time.time() > since + 16:
            asked = run.snapshot()
        if meter and not measured and time.time() > since + 15:
            measured = {"cost": meter.read()}
        time.sleep(0.2)
    first = first or next(iter(run.incidents()), None)
    if not fault.raises_nothing and not first:
        asked = run.snapshot()
    result = {
        "fault": fault.name,
        "page": run.asked.page,
        "silent": run.asked.silent,
        "seed": run.asked.seed,
        "ranks": run.asked.ranks,
        "program": run.program,
        "ownNetworks": run.own_networks,
        "truth": str(fault.truth),
        **measured,
        "early": sum(os.path.getmtime(path) < since for path in run.incidents()),
        "incidents": len(run.incidents()),
    }
    if first:
        _describe_incident(run, first, since, result)
    if asked:
        result["asked"] = str(truth.of_digest(asked))
        result["askedGrade"] = truth.grade(fault.truth, truth.of_digest(asked))
        result.setdefault("text", run.diagnose("snapshot.jsonl"))
    result["grade"] = grade(fault, result)
    if run.asked.provoke and not result["incidents"]:
        run.provoke()
    return result


def _describe_incident(run, path, since, result):
    with open(path, encoding="utf-8") as file:
        digest = json.load(file)
    said = truth.of_digest(digest)
    folder = os.path.dirname(path)
    _unpack(f"{folder}/capture.jsonl.gz", os.path.join(run.folder, "incident.jsonl"))
    result.update(
        verdict=str(said),
        verdictGrade=truth.grade(run.fault.truth, said),
        confidence=digest.get("confidence"),
        trigger=digest.get("trigger", {}),
        alarmSeconds=round(_seconds(digest["detectedAt"]) - since, 1),
        digestSeconds=round(os.path.getmtime(path) - since, 1),
        text=_text(f"{folder}/digest.txt"),
    )


def grade(fault, result):
    """Of a whole run: of what arose by itself, or of its absence."""
    if fault.raises_nothing:
        if result["incidents"]:
            return "false alarm"
        # After its end there may be nobody left to ask.
        return result.get("askedGrade", "right" if fault.at == "end" else "wrong")
    if result["early"]:
        return "false alarm"
    return result.get("verdictGrade", "missed")


def _seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp).timestamp()


def _environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAPIDEYE_")}
    return kept | more


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _text(path):
    with contextlib.suppress(OSError):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    return ""


def _unpack(packed, plain):
    with gzip.open(packed) as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", required=True, choices=FAULTS)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--silent", action="store_true", help="neither page nor lines")
    parser.add_argument("--sidecar", action="store_true", help="the agent follows the log only")
    parser.add_argument("--launcher", choices=LAUNCHERS, help="of the program, under exec")
    parser.add_argument("--program", help="of the folder job; default: the fault's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--odd-rank", type=int, help="where the fault is; default: by the seed")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--provoke", action="store_true")
    parser.add_argument("--python", required=True, help="the virtual environment")
    parser.add_argument("--bin", required=True, help="folder of the daemons")
    parser.add_argument("--launch-threshold", default="auto")
    parser.add_argument("--hang-threshold", default="30s")
    parser.add_argument("--startup-grace", type=int, default=60)
    parser.add_argument(
        "--patience", type=float, default=75, help="seconds for an incident to arise"
    )
    return parser.parse_args()


def main():
    asked = arguments()
    processes.exit_on_signals()
    processes.adopt_orphans()
    run = None
    try:
        if FAULTS[asked.fault].production:
            asked.launch_threshold = asked.hang_threshold = "auto"
            asked.patience = max(asked.patience, 90)
        run = Run(asked)
        run.start()
        result = observe(run, run.break_it())
    except (Failed, RuntimeError, OSError) as error:
        result = {
            "fault": asked.fault,
            "page": asked.page,
            "seed": asked.seed,
            "truth": str(FAULTS[asked.fault].placed(asked.seed, asked.odd_rank).truth),
            "grade": "failed",
            "problem": str(error),
        }
    finally:
        left = run.close() if run else processes.end_all()
        if left:
            print(f"{asked.fault}: processes {left} do not end", file=sys.stderr)
    with open(os.path.join(asked.folder, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
