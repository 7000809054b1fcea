#!/usr/bin/python3 -B
"""Hooks that remove hosts, against stand-ins that note how they were called."""

import json
import os
import re
import unittest

from hook_case import CULPRIT, HOOKS, HookCase

REMOVERS = ("slurm-drain", "kubernetes-cordon", "compute-engine-report-faulty")
TOOLS = ("scontrol", "kubectl", "gcloud")


class EveryRemover(HookCase):
    def setUp(self):
        super().setUp()
        for tool in TOOLS:
            self.stand_in(tool, "exit 1")
        self.environment["RAPIDEYE_HOOK_STATE_DIR"] = self.path("hooks")

    def test_does_nothing_without_a_removal(self):
        for remover in REMOVERS:
            self.assertEqual(self.hook(remover, GCE_ZONE="us-z1"), "nothing to remove\n")
        self.assertEqual([self.calls(tool) for tool in TOOLS], [[], [], []])

    def test_does_nothing_for_a_recovery_or_a_test(self):
        for remover in REMOVERS:
            for settings, said in (({"event": "recovered"}, "nothing to do: recovered"),
                                   ({"test": True}, "nothing is removed")):
                self.assertIn(said, self.hook(remover, remove=[CULPRIT], GCE_ZONE="us-z1", **settings))
        self.assertEqual([self.calls(tool) for tool in TOOLS], [[], [], []])

    def test_refuses_a_name_that_could_be_more_than_one_node(self):
        for name in ("host-[0-99]", "ALL", "all", "--all", "a b", "a=b", "-", "x" * 300):
            for remover in REMOVERS:
                with self.subTest(name=name, remover=remover):
                    said = self.hook(remover, remove=["good", name], status=2, GCE_ZONE="us-z1")
                    self.assertIn("nothing was done", said)
        self.assertEqual([self.calls(tool) for tool in TOOLS], [[], [], []])

    def test_does_without_a_digest(self):
        self.digest = None
        self.stand_in("scontrol", "echo State=IDLE")
        self.assertEqual(self.hook("slurm-drain", remove=[CULPRIT]), f"{CULPRIT}: drained\n")
        self.assertIn("Reason=rapideye: BAD_TPU_CHIP in incident 20261003T035420Z-1a2b3c4d",
                      self.calls("scontrol"))

    def test_says_what_the_tool_says(self):
        for tool in TOOLS:
            self.stand_in(tool, "echo out of order >&2; exit 7")
        for remover in REMOVERS:
            said = self.hook(remover, remove=[CULPRIT], status=1, GCE_ZONE="us-z1")
            self.assertIn("out of order", said)
            self.assertIn(CULPRIT, said)

    def test_a_tool_that_is_not_there_is_named(self):
        self.environment["PATH"] = self.path("empty")
        for remover, tool in zip(REMOVERS, TOOLS):
            said = self.hook(remover, remove=[CULPRIT], status=1, GCE_ZONE="us-z1")
            self.assertIn(f"{tool}: No such file or directory", said)

    def test_all_are_in_the_table_and_can_be_run(self):
        with open(os.path.join(HOOKS, "README.md"), encoding="utf-8") as file:
            table = re.findall(r"^\| `([a-z-]+)` \|", file.read(), re.MULTILINE)
        there = [name for name in os.listdir(HOOKS) if os.access(os.path.join(HOOKS, name), os.X_OK)]
        self.assertEqual(sorted(table), sorted(there))

    def test_help_and_wrong_use(self):
        for hook in (*REMOVERS, "upload", "restart-job", "webhook"):
            said = self.hook(hook, "--help")
            for part in ("Hook:", "\nRights:", "\nSettings:", "\nExit:"):
                self.assertIn(part, said)
            self.assertIn("--help", self.hook(hook, "--frobnicate", status=2))
        self.assertIn("Exit:     0 fine", self.hook("node-problem-detector", "--help"))


class ComputeEngine(HookCase):
    def setUp(self):
        super().setUp()
        self.stand_in("gcloud")
        self.environment["RAPIDEYE_HOOK_STATE_DIR"] = self.path("hooks")

    def test_reports_the_instance_once_per_incident(self):
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="us-east5-a",
                         GCE_PROJECT="research")
        self.assertEqual(said, f"{CULPRIT}: reported as faulty (CHIP_ERROR)\n")
        command = ["compute", "instances", "report-host-as-faulty", CULPRIT, "--zone=us-east5-a",
                   "--project=research",
                   "--fault-reasons=behavior=CHIP_ERROR,description=rapideye: BAD_TPU_CHIP "
                   "TENSOR_CORE in incident 20261003T035420Z-1a2b3c4d",
                   "--disruption-schedule=IMMEDIATE", "--async", "--quiet"]
        self.assertEqual(self.calls("gcloud"), command)
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="us-east5-a")
        self.assertEqual(said, f"{CULPRIT}: reported already\n")
        self.assertEqual(self.calls("gcloud"), command)

    def test_one_that_failed_is_reported_again_and_the_others_are_not(self):
        self.stand_in("gcloud", 'case "$4" in tpu-1-2) exit 1 ;; esac')
        self.hook("compute-engine-report-faulty", remove=[CULPRIT, "other"], status=1, GCE_ZONE="z")
        self.stand_in("gcloud")
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT, "other"], GCE_ZONE="z")
        self.assertEqual(said, f"{CULPRIT}: reported as faulty (CHIP_ERROR)\nother: reported already\n")

    def test_a_report_that_may_have_been_made_is_not_made_again(self):
        self.stand_in("gcloud", "kill -KILL $PPID")
        self.hook("compute-engine-report-faulty", remove=[CULPRIT], status=-9, GCE_ZONE="z")
        asked = self.calls("gcloud")
        self.stand_in("gcloud")
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], status=1, GCE_ZONE="z")
        self.assertIn("may have been reported", said)
        self.assertEqual(self.calls("gcloud"), asked)
        begun, = os.listdir(self.path("hooks"))
        os.remove(self.path("hooks", begun))  # as it says, once somebody has looked
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="z")
        self.assertEqual(said, f"{CULPRIT}: reported as faulty (CHIP_ERROR)\n")

    def test_the_node_s_name_is_the_digest_s_and_the_behaviour_the_cause_s(self):
        self.digest["culprits"][0]["node"] = "gke-tpu-77"
        self.digest["cause"] = "NETWORKING_ISSUE"
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="z")
        self.assertEqual(said, "gke-tpu-77: reported as faulty (BEHAVIOR_UNSPECIFIED)\n")
        self.environment["RAPIDEYE_REMOVE_NODES"] = "gke-tpu-78"  # known best by who decided
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="z")
        self.assertIn("gke-tpu-78: reported", said)
        self.environment["RAPIDEYE_REMOVE_NODES"] = ""  # the digest's was not looked at by policy
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="z")
        self.assertIn(f"{CULPRIT}: reported", said)
        said = self.hook("compute-engine-report-faulty", remove=["other"], GCE_ZONE="z",
                         GCE_BEHAVIOR="PERFORMANCE")
        self.assertEqual(said, "other: reported as faulty (PERFORMANCE)\n")

    def test_without_the_incident_s_files_it_must_be_told_where_to_remember(self):
        del self.environment["RAPIDEYE_HOOK_STATE_DIR"]
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], status=2, GCE_ZONE="z")
        self.assertIn("set RAPIDEYE_HOOK_STATE_DIR", said)
        self.assertEqual(self.calls("gcloud"), [])
        self.incident_on_disk()
        self.hook("compute-engine-report-faulty", remove=[CULPRIT], GCE_ZONE="z")
        self.assertEqual(os.listdir(self.path("state", "hooks")),
                         [f"20261003T035420Z-1a2b3c4d.{CULPRIT}.reported"])

    def test_needs_a_zone(self):
        said = self.hook("compute-engine-report-faulty", remove=[CULPRIT], status=2)
        self.assertEqual(said, "RAPIDEYE_HOOK_GCE_ZONE is not set\n")


class NodeProblemDetector(HookCase):
    def setUp(self):
        super().setUp()
        self.environment["RAPIDEYE_HOOK_NPD_NODE"] = "tpu-1-2,10.0.0.7"
        self.environment["RAPIDEYE_HOOK_NPD_WINDOW"] = "1000000"

    def listed(self, *incidents):
        lines = "\n".join(json.dumps({"incidentId": f"i{n}", "detectedAt": "2026-10-03T03:54:20.139Z",
                                      **incident}) for n, incident in enumerate(incidents))
        self.stand_in("rapideye", f"cat <<'END'\n{lines}\nEND")

    def test_fine(self):
        self.listed({"cause": "BAD_TPU_CHIP", "culprits": ["other"]},
                    {"cause": "DATA_INPUT_STALL", "culprits": [CULPRIT]},
                    {"cause": "UNRECOVERABLE_ERROR", "detail": "OUT_OF_MEMORY", "culprits": [CULPRIT]},
                    {"problem": "its digest is damaged"})
        self.assertEqual(self.hook("node-problem-detector"), "no hang of late is this node's\n")
        self.assertEqual(self.calls("rapideye"), ["incidents", "--format=json", "--limit=100"])

    def test_problem(self):
        self.listed({"cause": "BAD_TPU_CHIP", "culprits": ["other", CULPRIT]})
        self.assertEqual(self.hook("node-problem-detector", status=1), "BAD_TPU_CHIP: i0\n")
        self.listed({"cause": "BAD_TPU_CHIP", "culprits": [CULPRIT]},
                    {"cause": "UNRECOVERABLE_ERROR", "detail": "POWER", "culprits": ["10.0.0.7"],
                     "detectedAt": "2026-10-04T03:54:20Z"})
        self.assertEqual(self.hook("node-problem-detector", status=1),
                         "UNRECOVERABLE_ERROR (2 times): i1\n")

    def test_what_is_long_ago_does_not_count(self):
        self.listed({"cause": "BAD_TPU_CHIP", "culprits": [CULPRIT],
                     "detectedAt": "2001-01-01T00:00:00.000Z"})
        self.hook("node-problem-detector", NPD_WINDOW="24")
        self.hook("node-problem-detector", status=1)

    def test_unknown(self):
        self.stand_in("rapideye", "echo 'rapideye: no coordinator' >&2; exit 1")
        said = self.hook("node-problem-detector", status=2)
        self.assertIn("exited with 1: rapideye: no coordinator", said)
        self.assertEqual(said.count("\n"), 1)
        self.stand_in("rapideye", "echo nonsense")
        self.hook("node-problem-detector", status=2)
        self.hook("node-problem-detector", status=2, NPD_WINDOW="long")


if __name__ == "__main__":
    unittest.main()
