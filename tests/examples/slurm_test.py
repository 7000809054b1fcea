#!/usr/bin/python3
"""deploy/BESIDE_A_JOB.md, "Slurm": deploy/slurm/train.sbatch on a cluster of eight nodes.

usage: slurm_test.py BUILD

BUILD is installed as people do. The real Slurm and munge run in namespaces of their own (mounts,
network, processes), where every node has a host name, a process table and a disk of its own. The
job's script is the shipped one but for what is marked "yours" in it. Skipped where there is no
Slurm, or nobody may make namespaces.
"""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import documents
import parts
from parts import run

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
DAEMONS = "/usr/sbin:/usr/bin:/sbin:/bin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch", "scancel", "squeue", "unshare", "setpriv",
            "openssl", "ip", "mount")
USER = "games"  # the job's: somebody who is not root, and on every Debian
NODES = 8
ADDRESS = "10.77.0."  # of the nodes; names are looked up only where some address is none of loopback
INSIDE = "--inside"

SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}({address}254)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=30
SlurmctldTimeout=300
SlurmdTimeout=300
MessageTimeout=100
TCPTimeout=60
SchedulerParameters=sched_interval=1,sched_min_interval=1000,batch_sched_delay=1
{nodes}
PartitionName=all Nodes=tpu-[0-{last}] Default=YES MaxTime=INFINITE State=UP
"""

# Every rank makes steps. Told to, rank 5 ends by an error; the others stand until they are released,
# as at a barrier, and end well.
TRAIN = """
import os, sys, time

folder = sys.argv[1]
def wait_for(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.1)
for step in range(1, 4):
    print(f"completed step: {step}", flush=True)
wait_for("fail")
if os.environ["SLURM_PROCID"] == "5":
    raise ValueError("loss is not finite")
wait_for("release")
"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def as_user(path):
    owner = pwd.getpwnam(USER)
    os.makedirs(path, exist_ok=True)
    os.chown(path, owner.pw_uid, owner.pw_gid)
    return path


class Cluster:
    """A controller and its nodes, in this process's namespaces."""

    def __init__(self, folder, prefix):
        self.folder = folder
        self.daemons = []
        self.environment = {"PATH": f"{prefix}/bin:{DAEMONS}", "LC_ALL": "C.UTF-8", "HOME": folder,
                            "TMPDIR": "/var/tmp",  # of each node; Slurm's own is /tmp
                            "SLURM_CONF": os.path.join(folder, "slurm.conf")}
        os.mkdir(os.path.join(folder, "controller"))
        nodes = "\n".join(f"NodeName=tpu-{n} NodeHostname=tpu-{n} NodeAddr={ADDRESS}{n + 1} Port={7001 + n}"
                          for n in range(NODES))
        self.write("slurm.conf", SLURM_CONF.format(host=socket.gethostname().split(".")[0], folder=folder,
                                                   address=ADDRESS, nodes=nodes, last=NODES - 1))
        # With a kind that is named slurmd looks for no cgroup, and nothing here uses one.
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        key = os.path.join(folder, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o600)

    def begin(self):
        """Returns once all nodes are idle."""
        folder, key = self.folder, os.path.join(self.folder, "munge.key")
        self.start("munged", "munged", "--foreground", "--force", f"--key-file={key}",
                   *(f"--{what}-file={folder}/munged.{what}" for what in ("pid", "log", "seed")),
                   f"--socket={folder}/munge.sock")
        self.until(lambda: os.path.exists(f"{folder}/munge.sock"), "munge's socket")
        self.start("slurmctld", "slurmctld", "-D", "-c")
        for n in range(NODES):
            disk = os.path.join(folder, f"disk-{n}")
            os.mkdir(disk)
            os.chmod(disk, 0o1777)
            self.start(f"slurmd-{n}", "unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
                       "sh", "-c", f"hostname tpu-{n} && mount --bind {disk} /var/tmp && exec slurmd -D -N tpu-{n}")
        self.until(lambda: self.ask("sinfo", "--noheader", "--format=%T:%D").split() == [f"idle:{NODES}"],
                   "all nodes to be idle")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, name, *command):
        with open(os.path.join(self.folder, f"{name}.out"), "wb") as output:
            self.daemons.append(subprocess.Popen(command, env=self.environment, cwd=self.folder,
                                                 stdin=subprocess.DEVNULL, stdout=output, stderr=output))

    def end(self):
        for daemon in reversed(self.daemons):
            daemon.kill()
            daemon.wait()

    def ask(self, *command, **more):
        """What a command prints, whatever its exit status."""
        done = subprocess.run(command, env={**self.environment, **more}, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr

    def shell(self, script, **variables):
        """A block of a document, as the user types it."""
        return run(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "bash", "-euo", "pipefail", "-c",
                    script], env={**self.environment, **variables}, cwd=self.folder)

    def until(self, tells, what):
        try:
            return parts.until(tells, what)
        except AssertionError:
            self.print_logs()
            raise

    def print_logs(self):
        for folder, _, names in os.walk(self.folder):
            for name in sorted(names):
                if name.endswith((".out", ".log")):
                    print(f"--- {os.path.join(folder, name)}\n{read(os.path.join(folder, name))[-2000:]}")

    def job(self, job):
        """The fields of a job."""
        return dict(word.partition("=")[::2] for word in self.ask("scontrol", "--oneliner", "show", "job", job).split())


class SlurmTest(unittest.TestCase):
    """One cluster for all of it: it takes longer to start than the jobs do."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rapideye-slurm-")
        os.chmod(cls.folder, 0o755)  # munge insists on it, and the job's user has to read it
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # Where the documents say that the programs are installed, and what all nodes see.
        prefix = os.path.join(cls.folder, "usr-local")
        run(["cmake", "--install", OPTIONS["build"], "--prefix", prefix])
        run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/usr/local/share"])
        os.symlink(os.path.join(prefix, "share/rapideye"), "/usr/local/share/rapideye")
        cls.write_hosts()
        cls.shared = as_user(os.path.join(cls.folder, "shared"))
        cls.blocks = documents.blocks(os.path.join(ROOT, "deploy/BESIDE_A_JOB.md"), "## Slurm")
        cls.cluster = Cluster(cls.folder, prefix)
        cls.addClassCleanup(cls.cluster.end)
        cls.cluster.begin()
        cls.cluster.shell(cls.on_shared(cls.blocks["Once, on shared storage, as the user of the job"]))

    @classmethod
    def write_hosts(cls):
        hosts = os.path.join(cls.folder, "hosts")
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n")
            file.write(f"{ADDRESS}254 {socket.gethostname()}\n")
            file.writelines(f"{ADDRESS}{n + 1} tpu-{n}\n" for n in range(NODES))
        run(["mount", "--bind", hosts, "/etc/hosts"])

    @classmethod
    def on_shared(cls, text):
        return text.replace("/shared/rapideye", cls.shared)

    def script(self, work):
        """The shipped script; what is marked is the user's."""
        lines = read("/usr/local/share/rapideye/slurm/train.sbatch").splitlines()
        train = os.path.join(work, "train.py")
        with open(train, "w", encoding="utf-8") as file:
            file.write(TRAIN)
        mine = {"shared=": f"shared={self.shared}",
                "rapideye-agent exec": f"  rapideye-agent exec -- {sys.executable} {train} {work}"}
        changed = 0
        for at, line in enumerate(lines):
            for key, value in mine.items():
                if key in line and "# yours" in line:
                    lines[at] = value
                    changed += 1
        self.assertEqual(changed, len(mine))
        path = os.path.join(work, "train.sbatch")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def submit(self, name, **variables):
        work = as_user(os.path.join(self.folder, name))
        self.addCleanup(shutil.rmtree, os.path.join(self.shared, "incidents"), ignore_errors=True)
        text = self.blocks["For each job"]
        self.assertIn("/usr/local/share/rapideye/slurm/train.sbatch", text)
        said = self.cluster.shell(text.replace("sbatch /", f"cd {work}; sbatch /").replace(
            "/usr/local/share/rapideye/slurm/train.sbatch", self.script(work)), **variables)
        return said.split()[-1], work

    @staticmethod
    def touch(folder, name):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass

    def status(self, job):
        script = self.on_shared(self.blocks["Where an operator sits"])
        self.assertTrue(script.endswith("\nrapideye status\n"))
        try:
            return self.cluster.shell(script, job=job)
        except AssertionError as error:  # it does not answer yet
            return str(error)

    def until_connected(self, job):
        said = []
        try:
            self.cluster.until(lambda: "8 of 8 connected" in (said.append(self.status(job)) or said[-1]),
                               "all agents at the coordinator")
        except AssertionError:
            print(said[-1])
            raise

    def digest(self):
        """The newest incident on shared storage, once it is there."""
        incidents = os.path.join(self.shared, "incidents")
        found = sorted(os.listdir(incidents)) if os.path.isdir(incidents) else []
        path = os.path.join(incidents, found[-1], "digest.json") if found else ""
        return json.loads(read(path)) if os.path.exists(path) else None

    def assert_names_rank_5(self, digest):
        if digest.get("detail") != "PROCESS_EXIT":
            self.cluster.print_logs()
        self.assertEqual(digest.get("detail"), "PROCESS_EXIT", digest)
        self.assertEqual([(c["slice"], c["task"], c["host"]) for c in digest["culprits"]], [(1, 1, "tpu-5")])

    def until_ended(self, job):
        return self.cluster.until(lambda: (fields := self.cluster.job(job))["JobState"] in (
            "FAILED", "COMPLETED", "CANCELLED") and fields, f"job {job} to end")

    def test_a_job_that_stands_is_diagnosed_while_it_runs(self):
        job, work = self.submit("stands")
        self.until_connected(job)
        self.assertIsNone(self.digest())
        self.touch(work, "fail")
        digest = self.cluster.until(self.digest, "an incident on shared storage")
        self.assert_names_rank_5(digest)
        self.assertEqual(digest["job"], f"llama-{job}")
        self.assertEqual(self.cluster.job(job)["JobState"], "RUNNING")
        # The state is on the disk of the first node alone.
        self.assertEqual([n for n in range(NODES)
                          if os.path.exists(f"{self.folder}/disk-{n}/rapideye-{job}/version")], [0])
        self.touch(work, "release")
        ended = self.until_ended(job)
        # The training's own status is the job's.
        self.assertEqual((ended["JobState"], ended["ExitCode"]), ("FAILED", "1:0"))
        log = read(os.path.join(self.shared, "logs", job, "train-5.log"))
        self.assertIn("completed step: 3\n", log)
        self.assertIn("ValueError: loss is not finite\n", log)

    def test_a_job_that_ends_with_its_first_failure_leaves_its_incident(self):
        # As many clusters are set: the first rank that fails takes the others along.
        job, work = self.submit("ends", SLURM_KILL_BAD_EXIT="1")
        self.until_connected(job)
        self.touch(work, "fail")
        self.assertEqual(self.until_ended(job)["JobState"], "FAILED")
        digest = self.digest()
        if digest is None:
            self.cluster.print_logs()
            self.fail("the job is over, and its incident is not on shared storage")
        self.assert_names_rank_5(digest)

    def test_other_jobs_are_left_alone_by_the_task_prolog(self):
        prolog = "/usr/local/share/rapideye/slurm/task-prolog"
        self.assertEqual(run([prolog], env={"PATH": DAEMONS, "SLURM_PROCID": "5"}), "")
        self.assertEqual(run([prolog], env={"PATH": DAEMONS, "SLURM_PROCID": "5", "RAPIDEYE_TASKS_PER_SLICE": "4"}),
                         "export RAPIDEYE_SLICE=1\nexport RAPIDEYE_TASK=1\n")


def look_for_parts():
    missing = [name for name in PROGRAMS if not shutil.which(name, path=DAEMONS)]
    if missing:
        raise parts.Lacking(f"not installed: {' '.join(missing)} (deploy/install-dependencies.sh test)")
    if os.geteuid() != 0:
        raise parts.Lacking("slurmd needs root")
    tried = subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "tmpfs", "/usr/local/share"], capture_output=True,
                           text=True, check=False)
    if tried.returncode:
        raise parts.Lacking(f"no namespaces can be made: {tried.stderr.strip()}")


NAMESPACES = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
OPTIONS = {}


def test():
    if INSIDE not in sys.argv:
        look_for_parts()
        # With its first process everything in the namespaces ends.
        return not subprocess.run([*NAMESPACES, sys.executable, "-B", *sys.argv, INSIDE], check=False).returncode
    run(["ip", "link", "set", "lo", "up"])
    for number in (*range(1, NODES + 1), 254):
        run(["ip", "address", "add", f"{ADDRESS}{number}/24", "dev", "lo"])
    OPTIONS["build"] = os.path.realpath(sys.argv[1])
    return unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(parts.exit_status("Slurm", test))
