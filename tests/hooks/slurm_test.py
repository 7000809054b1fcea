#!/usr/bin/python3 -B
"""The Slurm hooks against a real controller, a real node and munge, all on loopback.

Started by hand in a directory of their own, on ports of their own; whatever Slurm
this machine runs besides is not touched. Needs root, since slurmd starts jobs as others.
"""

import os
import shutil
import socket
import subprocess
import time
import unittest

from hook_case import CULPRIT, HookCase, skip_all

PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch")
DAEMONS = "/usr/sbin:/usr/bin"
PATIENCE = 20  # for what takes about a second

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=1
SchedulerParameters=sched_interval=1,sched_min_interval=1000,batch_sched_delay=1
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port}
PartitionName=all Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Slurm(HookCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)  # munge insists on it
        for name in ("controller", "node"):
            os.mkdir(self.path(name))
        with open(self.path("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o600)
        self.write("slurm.conf", CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, node=CULPRIT,
            controller=free_port(), port=free_port()))
        # Nothing here uses a cgroup, and with a kind that is named slurmd does not look for
        # one at its start: none needs to be mounted.
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        self.environment.update(PATH=f"{DAEMONS}:{self.environment['PATH']}",
                                SLURM_CONF=self.path("slurm.conf"))
        self.start("munged", "--foreground", "--force", f"--key-file={self.path('munge.key')}",
                   *(f"--{what}-file={self.path('munged.' + what)}" for what in ("pid", "log", "seed")),
                   f"--socket={self.path('munge.sock')}")
        self.until(lambda: os.path.exists(self.path("munge.sock")), "munge's socket")
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D", "-N", CULPRIT)
        self.until(lambda: "State=IDLE " in self.show("node", CULPRIT), "the node to be idle")

    def start(self, *command):
        with open(self.path(f"{command[0]}.out"), "wb") as output:
            daemon = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=output, stderr=output)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)

    def until(self, done, what):
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                for name in sorted(os.listdir(self.folder)):
                    if name.endswith(".out"):
                        with open(self.path(name), encoding="utf-8", errors="replace") as file:
                            print(f"--- {name}\n{file.read()[-2000:]}")
                self.fail(f"waited for {what} in vain")
            time.sleep(0.05)

    def slurm(self, *command):
        run = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                             check=False, timeout=PATIENCE)
        return run.stdout + run.stderr

    def show(self, kind, name):
        return self.slurm("scontrol", "--oneliner", "show", kind, name)

    def reason(self):
        return self.show("node", CULPRIT).partition("Reason=")[2].partition(" [")[0]

    def test_an_incident_drains_the_node_and_a_second_changes_nothing(self):
        self.assertEqual(self.hook("slurm-drain"), "nothing to remove\n")
        self.assertIn("State=IDLE ", self.show("node", CULPRIT))

        self.assertEqual(self.hook("slurm-drain", remove=[CULPRIT]), f"{CULPRIT}: drained\n")
        drained = self.show("node", CULPRIT)
        self.assertIn("State=IDLE+DRAIN ", drained)
        self.assertEqual(
            self.reason(),
            "rapideye: BAD_TPU_CHIP TENSOR_CORE in incident 20261003T035420Z-1a2b3c4d")

        said = self.hook("slurm-drain", remove=[CULPRIT], incident="20261004T000000Z-00000002")
        self.assertEqual(said, f"{CULPRIT}: drained already\n")
        self.assertEqual(self.show("node", CULPRIT), drained)

        said = self.hook("slurm-drain", remove=["no-such-node", CULPRIT], status=1)
        self.assertIn("no-such-node", said)

    def test_a_person_s_reason_is_kept(self):
        self.slurm("scontrol", "update", f"NodeName={CULPRIT}", "State=DRAIN", "Reason=the fan")
        self.hook("slurm-drain", remove=[CULPRIT])
        self.assertEqual(self.reason(), "the fan")

    def test_a_job_is_requeued_once_for_an_incident(self):
        self.incident_on_disk()
        said = self.slurm("sbatch", "--requeue", "--job-name=train", "--output=/dev/null", "--chdir=/",
                          "--wrap=sleep 1000")
        job = said.split()[-1]
        self.until(lambda: "JobState=RUNNING" in self.show("job", job), f"job {job} to run: {said}")
        self.digest["job"] = f"train-{job}"
        self.digest["detectedAt"] = "2001-01-01T00:00:00.000Z"  # the job has begun since
        self.assertIn("restarted since", self.hook("restart-job", RESTART="slurm"))
        self.digest["detectedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        self.assertEqual(self.hook("restart-job", RESTART="slurm"), f"job {job}: requeued\n")
        self.until(lambda: "Restarts=1" in self.show("job", job), "the job to be requeued")
        self.assertIn("nothing to restart", self.hook("restart-job", RESTART="slurm"))


if __name__ == "__main__":
    missing = [name for name in PROGRAMS if not shutil.which(name, path=DAEMONS)]
    if missing:
        skip_all(f"not installed: {' '.join(missing)} (deploy/install-dependencies.sh test)")
    if os.getuid() != 0:
        skip_all("slurmd needs root")
    unittest.main()
