#!/usr/bin/python3
"""The parts of the JAX testbed that need no job: what counts as right, the table, the registry."""

import ast
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import experiment
import processes
import table
import truth
from faults import FAULTS
from truth import NOBODY, Said, Truth, Verdict

HERE = os.path.dirname(os.path.realpath(__file__))
LOCK = Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "LOCK")
TWO = frozenset({2})


def digest(cause, tasks=(), activity=None, links=()):
    culprits = [
        {"slice": 0, "task": task} | ({"hostActivity": activity} if activity else {})
        for task in tasks
    ]
    return {
        "cause": cause,
        "detail": "D",
        "culprits": culprits,
        "links": [{"from": {"task": a}, "to": {"task": b}} for a, b in links],
    }


class GradeTest(unittest.TestCase):
    def test_all_of_it_is_right(self):
        self.assertEqual(truth.grade(Truth([LOCK]), Said(LOCK, TWO)), "right")

    def test_another_activity_is_partly_right(self):
        other = Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "OTHER")
        self.assertEqual(truth.grade(Truth([LOCK]), Said(other, TWO)), "partly")

    def test_an_innocent_besides_is_partly_right(self):
        self.assertEqual(truth.grade(Truth([LOCK]), Said(LOCK, frozenset({1, 2}))), "partly")

    def test_the_culprit_of_another_cause_is_partly_right(self):
        self.assertEqual(truth.grade(Truth([LOCK]), Said(Verdict("UNKNOWN"), TWO)), "partly")

    def test_nobody_of_another_cause_is_wrong(self):
        mismatch = Truth([Verdict("DIFFERENT_MODULE")], [NOBODY])
        self.assertEqual(truth.grade(mismatch, Said(Verdict("UNKNOWN"), NOBODY)), "wrong")

    def test_any_activity_will_do_if_none_is_asked(self):
        asked = Truth([Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED")])
        self.assertEqual(truth.grade(asked, Said(LOCK, TWO)), "right")

    def test_culprits_belong_to_their_verdict(self):
        either = Truth([LOCK]) | Truth([Verdict("DIFFERENT_MODULE")], [NOBODY])
        self.assertEqual(truth.grade(either, Said(Verdict("DIFFERENT_MODULE"), NOBODY)), "right")
        self.assertEqual(truth.grade(either, Said(LOCK, NOBODY)), "partly")

    def test_its_text_is_short(self):
        either = Truth([LOCK, Verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "OTHER")])
        self.assertEqual(
            str(either | Truth([Verdict("UNKNOWN")], [NOBODY, TWO])),
            "DATA_INPUT_STALL PROGRAM_NOT_QUEUED LOCK/OTHER: host-2; or UNKNOWN: nobody or host-2",
        )


class DigestTest(unittest.TestCase):
    def test_culprits_and_what_they_are_in(self):
        said = truth.of_digest(digest("C", [2], "LOCK"))
        self.assertEqual(said, Said(Verdict("C", "D", "LOCK"), TWO))

    def test_culprits_in_different_things_are_in_nothing(self):
        mixed = digest("C", [1], "LOCK")
        mixed["culprits"] += digest("C", [2], "RETRY")["culprits"]
        self.assertEqual(truth.of_digest(mixed).verdict.activity, None)

    def test_links_name_the_host_that_all_share(self):
        self.assertEqual(truth.of_digest(digest("C", links=[(0, 2), (2, 3)])).culprits, TWO)
        self.assertEqual(truth.of_digest(digest("C", links=[(0, 1), (2, 3)])).culprits, NOBODY)


class RunGradeTest(unittest.TestCase):
    def test_what_was_asked_for_did_not_arise(self):
        result = {"early": 0, "incidents": 0, "askedGrade": "right"}
        self.assertEqual(experiment.grade(FAULTS["lock"], result), "missed")

    def test_an_incident_before_the_fault_is_a_false_alarm(self):
        result = {"early": 1, "incidents": 1, "verdictGrade": "right"}
        self.assertEqual(experiment.grade(FAULTS["lock"], result), "false alarm")

    def test_any_incident_is_one_where_nothing_is_wrong(self):
        result = {"early": 0, "incidents": 1, "askedGrade": "right"}
        self.assertEqual(experiment.grade(FAULTS["slow-rank"], result), "false alarm")

    def test_where_nothing_is_wrong_the_snapshot_has_to_say_so(self):
        for said in ("right", "wrong"):
            result = {"early": 0, "incidents": 0, "askedGrade": said}
            self.assertEqual(experiment.grade(FAULTS["slow-rank"], result), said)

    def test_after_its_end_a_job_need_not_answer(self):
        result = {"early": 0, "incidents": 0}
        self.assertEqual(experiment.grade(FAULTS["abort-after-end"], result), "right")
        self.assertEqual(experiment.grade(FAULTS["slow-rank"], result), "wrong")


class RegistryTest(unittest.TestCase):
    def test_every_way_of_being_odd_is_one_of_the_program(self):
        known = {
            node.value
            for name in ("train.py", "plain.py", "mishaps.py")
            for node in ast.walk(ast.parse(experiment._text(os.path.join(HERE, "job", name))))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for fault in FAULTS.values():
            self.assertIn(fault.odd or "", known | {""})

    def test_every_fault_is_done_to_somebody(self):
        for fault in FAULTS.values():
            self.assertTrue(fault.odd or fault.inject or fault.prepare or fault.absent, fault.name)

    def test_a_seed_moves_a_fault_and_its_truth(self):
        moved = FAULTS["never-started"].placed(2)
        self.assertEqual(moved.absent, frozenset({3}))
        self.assertEqual(moved.truth.alternatives()[0][1], frozenset({3}))
        self.assertEqual(FAULTS["leader-killed"].placed(2).rank, 0)
        self.assertEqual(str(FAULTS["lock"].placed(1).truth), str(FAULTS["lock"].truth))

    def test_what_must_be_right_is_in_the_registry(self):
        for names in table.MUST.values():
            self.assertLessEqual(set(names), set(FAULTS))


class TableTest(unittest.TestCase):
    def test_a_row_has_truth_beside_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            result = {
                "fault": "lock",
                "page": True,
                "seed": 1,
                "truth": "T",
                "verdict": "V",
                "grade": "right",
                "alarmSeconds": 1.0,
                "digestSeconds": 2.0,
            }
            table.write(folder, [result])
            with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file), [result])
        self.assertEqual(table.row(result), "| lock | yes | T | V | yes | 1.0, 2.0 s | right |")


class ReadmeTest(unittest.TestCase):
    def test_it_lists_every_fault_as_it_is(self):
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in table.registry().splitlines():  # as run.py --list prints it
            self.assertIn(line, lines)


class ProcessesTest(unittest.TestCase):
    def test_nothing_is_left_behind(self):
        # In a process of its own, since this one may have other children.
        script = (
            "import os, processes, subprocess, sys\n"
            "processes.adopt_orphans()\n"
            "subprocess.run(['sh', '-c', 'setsid sleep 1000 & echo $!'])\n"
            "sys.exit(len(processes.end_all()) + len(processes.descendants(os.getpid())))\n"
        )
        done = subprocess.run(
            [sys.executable, "-B", "-c", script],
            cwd=HERE,
            text=True,
            stdout=subprocess.PIPE,
            timeout=60,
            check=True,
        )
        self.assertFalse(os.path.exists(f"/proc/{int(done.stdout)}"))

    def test_a_process_ends_with_the_one_that_started_it(self):
        script = "import processes\n" "print(processes.start(['sleep', '1000'], '/dev/null').pid)\n"
        done = subprocess.run(
            [sys.executable, "-B", "-c", script],
            cwd=HERE,
            text=True,
            stdout=subprocess.PIPE,
            timeout=60,
            check=True,
        )
        deadline = time.monotonic() + 60
        while processes.command_line(int(done.stdout)) and time.monotonic() < deadline:
            pass
        self.assertEqual(processes.command_line(int(done.stdout)), "")


if __name__ == "__main__":
    unittest.main()
