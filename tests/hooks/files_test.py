#!/usr/bin/python3 -B
"""Upload of an incident, and the restart of its job, against stand-ins."""

import json
import os
import unittest

from hook_case import HookCase

INCIDENT = "20261003T035420Z-1a2b3c4d"
FILES = ["capture.jsonl.gz", "digest.html", "digest.json", "digest.txt"]


class Upload(HookCase):
    def setUp(self):
        super().setUp()
        self.incident = self.incident_on_disk()
        self.there = self.path("archive", INCIDENT)

    def upload(self, **more):
        return self.hook("upload", **{"UPLOAD_TO": self.path("archive"), **more})

    def contents(self, name):
        with open(os.path.join(self.there, name), encoding="utf-8") as file:
            return file.read()

    def rewrite(self, folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_copies_everything_once(self):
        self.assertIn(", ".join(FILES), self.upload())
        self.assertEqual(sorted(os.listdir(self.there)), FILES)
        self.assertEqual(self.contents("digest.txt"), "all of digest.txt")
        self.assertIn("already", self.upload())

    def test_copies_the_end_too(self):
        self.upload()
        self.rewrite(self.incident, "ended.json", '{"ended": "2026-10-03T06:01:23Z"}')
        self.assertIn("ended.json", self.upload(event="recovered"))
        self.assertEqual(sorted(os.listdir(self.there)), sorted([*FILES, "ended.json"]))

    def test_never_overwrites_with_less(self):
        os.makedirs(self.there)
        self.rewrite(self.there, "digest.txt", "much more than all of digest.txt")
        self.rewrite(self.there, "digest.html", "cut")
        self.upload()
        self.assertEqual(self.contents("digest.txt"), "much more than all of digest.txt")
        self.assertEqual(self.contents("digest.html"), "all of digest.html")
        self.rewrite(self.incident, "digest.json", "")
        self.assertIn("already", self.upload())
        self.assertEqual(self.contents("digest.json"), "all of digest.json")

    def test_sends_no_files_but_the_incident_s(self):
        os.makedirs(self.path("secrets"))
        for name in ("capture.jsonl.gz", "key"):
            with open(self.path(f"secrets/{name}"), "w", encoding="utf-8") as file:
                file.write("geheim")
        for named in ("secrets/capture.jsonl.gz", "secrets/key"):
            self.digest["files"]["capture"] = self.path(named)
            said = self.hook("upload", status=2, UPLOAD_TO=self.path("bucket"))
            self.assertIn("is no capture of incident", said)
        self.assertFalse(os.path.exists(self.path("bucket")))

    def test_without_a_capture_it_fails_until_there_is_one(self):
        os.rename(self.digest["files"]["capture"], self.path("elsewhere"))
        self.assertIn("not on this machine's disk", self.hook("upload", status=1, UPLOAD_TO="/x"))
        os.rename(self.path("elsewhere"), self.digest["files"]["capture"])
        self.upload()

    def test_to_buckets(self):
        for tool, to, begin in (("gsutil", "gs://b/hangs/", ["-q", "cp"]),
                                ("aws", "s3://b/hangs", ["s3", "cp", "--only-show-errors"])):
            self.stand_in(tool)
            self.upload(UPLOAD_TO=to, STATE_DIR=self.path(tool))
            self.assertEqual(self.calls(tool)[:len(begin) + 2],
                             [*begin, os.path.join(self.incident, FILES[0]),
                              f"{to.rstrip('/')}/{INCIDENT}/{FILES[0]}"])

    def test_one_that_failed_is_tried_again(self):
        self.stand_in("gsutil", "exit 1")
        self.assertIn("exited with 1", self.hook("upload", status=1, UPLOAD_TO="gs://b"))
        self.stand_in("gsutil")
        self.assertIn(", ".join(FILES), self.upload(UPLOAD_TO="gs://b"))

    def test_with_a_command_of_ones_own(self):
        self.stand_in("rcopy")
        self.upload(UPLOAD_TO="host:in", UPLOAD_COMMAND="rcopy --a 'b c' {file} {to}")
        self.assertEqual(self.calls("rcopy")[:4],
                         ["--a", "b c", os.path.join(self.incident, FILES[0]),
                          f"host:in/{INCIDENT}/{FILES[0]}"])

    def test_settings_that_cannot_be_right(self):
        self.assertIn("is not set", self.hook("upload", status=2))
        self.assertIn("UPLOAD_COMMAND", self.hook("upload", status=2, UPLOAD_TO="archive"))
        self.assertIn("{file}", self.hook("upload", status=2, UPLOAD_TO="x", UPLOAD_COMMAND="cp a b"))


class Restart(HookCase):
    def setUp(self):
        super().setUp()
        self.incident_on_disk()
        self.digest["job"] = "llama-70b-4711"

    def slurm(self, state="RUNNING", start=1_600_000_000):
        self.stand_in("scontrol", '[ "$2" != show ] || '
                      f'echo "JobId=4711 JobState={state} Restarts=0 StartTime={start} Reason=None"')

    def test_is_off(self):
        self.slurm()
        self.assertIn("off", self.hook("restart-job"))
        self.assertEqual(self.calls("scontrol"), [])

    def test_requeues_a_job_that_runs_since_before_the_incident(self):
        self.slurm()
        self.assertEqual(self.hook("restart-job", RESTART="slurm"), "job 4711: requeued\n")
        self.assertEqual(self.calls("scontrol"), ["--oneliner", "show", "job", "4711", "requeue", "4711"])

    def test_restarts_nothing_because_a_job_recovers_or_for_a_test(self):
        self.slurm()
        self.assertEqual(self.hook("restart-job", event="recovered", RESTART="slurm"),
                         "nothing to do: recovered\n")
        self.assertIn("not restarted", self.hook("restart-job", test=True, RESTART="slurm"))
        self.assertEqual(self.calls("scontrol"), [])

    def takes_no_name(self):
        for platform, name in ("slurm", "SLURM_JOB"), ("jobset", "JOBSET"):
            self.stand_in("scontrol")
            self.stand_in("kubectl")
            self.assertIn(f"RESTART_{name} is not set",
                          self.hook("restart-job", status=2, RESTART=platform))
        self.assertEqual(self.calls("scontrol") + self.calls("kubectl"), [])

    def test_a_remover_takes_no_job_from_a_name(self):
        self.environment["RAPIDEYE_CALLER"] = "remover"
        self.takes_no_name()

    def test_no_job_is_taken_from_the_name_that_a_worker_states(self):
        self.environment["RAPIDEYE_JOB_STATED_BY"] = "worker"
        self.takes_no_name()

    def test_leaves_alone_what_was_restarted_since(self):
        for state, start in (("RUNNING", 1_900_000_000), ("PENDING", "Unknown"), ("COMPLETED", 1)):
            self.slurm(state, start)
            self.hook("restart-job", RESTART="slurm", RESTART_SLURM_JOB="17")
        self.assertNotIn("requeue", self.calls("scontrol"))

    def test_waits_until_the_capture_is_safe(self):
        self.slurm()
        self.assertIn("not uploaded yet", self.hook("restart-job", status=1, RESTART="slurm",
                                                    RESTART_AFTER_UPLOAD="1"))
        self.hook("upload", UPLOAD_TO=self.path("archive"))
        self.hook("restart-job", RESTART="slurm", RESTART_AFTER_UPLOAD="1")
        self.assertIn("requeue", self.calls("scontrol"))
        os.remove(self.digest["files"]["capture"])
        self.assertIn("capture", self.hook("restart-job", status=1, RESTART="slurm"))

    def test_deletes_pods_older_than_the_incident(self):
        pods = {"items": [{"metadata": {"name": name, "creationTimestamp": made, **more}}
                          for name, made, more in (
                              ("old-0", "2026-10-03T01:00:00Z", {}),
                              ("old-1", "2026-10-03T03:54:19Z", {}),
                              ("going", "2026-10-03T01:00:00Z", {"deletionTimestamp": "2026-10-03T04:00:00Z"}),
                              ("new-0", "2026-10-03T03:54:20Z", {}),
                              ("new-1", "2026-10-03T05:00:00Z", {}))]}
        self.stand_in("kubectl", f"cat <<'END'\n{json.dumps(pods)}\nEND")
        said = self.hook("restart-job", RESTART="jobset", RESTART_NAMESPACE="training")
        self.assertEqual(said, "JobSet llama-70b-4711: 2 pods deleted\n")
        common = ["--request-timeout=15s", "--namespace=training"]
        self.assertEqual(self.calls("kubectl"), [
            *common, "get", "pods", "-l", "jobset.sigs.k8s.io/jobset-name=llama-70b-4711", "-o", "json",
            *common, "delete", "pods", "old-0", "old-1", "--wait=false", "--ignore-not-found"])

    def test_settings_that_cannot_be_right(self):
        self.assertIn("slurm or jobset", self.hook("restart-job", status=2, RESTART="yes"))
        self.assertIn("no job's id", self.hook("restart-job", status=2, RESTART="slurm",
                                               RESTART_SLURM_JOB="1,2"))
        self.digest["job"] = "llama"
        self.assertIn("RESTART_SLURM_JOB is not set", self.hook("restart-job", status=2, RESTART="slurm"))
        self.digest["job"] = "-o"
        self.assertIn("cannot be", self.hook("restart-job", status=2, RESTART="jobset"))


if __name__ == "__main__":
    unittest.main()
