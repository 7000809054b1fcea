#!/usr/bin/python3
"""A verdict gets the grade that it deserves, and raw lines become the events of a capture."""

import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import capture  # noqa: E402
import casebook  # noqa: E402
import grade as grades  # noqa: E402

INPUT = {"cause": "DATA_INPUT_STALL", "detail": "INPUT_PIPELINE", "culprits": ["0/2"]}


def verdict(cause, detail=None, *workers, activity=None):
    culprits = []
    for one in workers:
        culprit = capture.worker_id(one)
        if activity:
            culprit["hostActivity"] = activity
        culprits.append(culprit)
    return {"cause": cause, "detail": detail, "culprits": culprits}


class Grade(unittest.TestCase):
    def check(self, expected, said, truth=None, accept=()):
        case = {"truth": truth or INPUT, "accept": list(accept)}
        self.assertEqual(grades.grade(case, said), expected)

    def test_right_needs_cause_detail_and_culprits(self):
        self.check("right", verdict("DATA_INPUT_STALL", "INPUT_PIPELINE", "0/2"))
        self.check("partly", verdict("DATA_INPUT_STALL", "PROGRAM_NOT_QUEUED", "0/2"))
        self.check("partly", verdict("UNRECOVERABLE_ERROR", "PROCESS_EXIT", "0/2"))
        self.check("partly", verdict("DATA_INPUT_STALL", "INPUT_PIPELINE"))

    def test_an_innocent_is_wrong_whatever_else_is_said(self):
        self.check("wrong", verdict("DATA_INPUT_STALL", "INPUT_PIPELINE", "0/1", "0/2"))

    def test_a_false_all_clear_and_a_false_alarm_are_wrong(self):
        self.check("wrong", verdict("NO_HANG", "RUNNING"))
        healthy = {"cause": "NO_HANG", "detail": "RUNNING", "culprits": []}
        self.check("wrong", verdict("UNRECOVERABLE_ERROR", "OTHER"), truth=healthy)
        self.check("partly", verdict("NO_HANG", "PAUSED"), truth=healthy)

    def test_a_false_cause_that_names_nobody_is_wrong(self):
        self.check("wrong", verdict("NETWORKING_ISSUE"))

    def test_unknown_is_not_covered_unless_it_is_the_truth(self):
        self.check("not covered", verdict("UNKNOWN"))
        self.check("right", verdict("UNKNOWN"), truth={"cause": "UNKNOWN", "culprits": []})

    def test_alternatives_and_any_of_several(self):
        other = {"cause": "UNRECOVERABLE_ERROR", "culpritsAmong": ["0/2", "0/3"]}
        self.check("right", verdict("UNRECOVERABLE_ERROR", "PROCESS_EXIT", "0/3"), accept=[other])
        self.check("partly", verdict("UNRECOVERABLE_ERROR", "PROCESS_EXIT"), accept=[other])

    def test_what_the_host_is_in(self):
        truth = {**INPUT, "hostActivity": "INPUT"}
        right = verdict("DATA_INPUT_STALL", "INPUT_PIPELINE", "0/2", activity="INPUT")
        self.check("right", right, truth=truth)
        self.check("partly", verdict("DATA_INPUT_STALL", "INPUT_PIPELINE", "0/2"), truth=truth)


class Problems(unittest.TestCase):
    def test_nothing_becomes_worse_and_nothing_is_wrong(self):
        def found(grade, was):
            return len(list(casebook.problems([("a", {}, grade, "")], {"a": was} if was else {})))
        self.assertEqual(found("right", "partly"), 0)
        self.assertEqual(found("partly", "right"), 1)
        self.assertEqual(found("not covered", None), 0)
        self.assertEqual(found("wrong", "wrong"), 1)

    def test_the_table_is_read_as_it_is_written(self):
        case = {"truth": {"cause": "UNKNOWN", "culprits": []}, "symptom": "a | b"}
        self.assertRegex(casebook.table([("001-a", case, "right", "UNKNOWN")]),
                         r"\n\| 001-a \| a \\\| b \| right \| UNKNOWN \|\n")
        self.assertTrue(casebook.published())


class Capture(unittest.TestCase):
    def test_who_was_never_heard_of_has_no_host(self):
        head = capture.header("a", {"header": {}, "workers": [2], "unheard": ["0/1"]})
        self.assertEqual([one["host"] for one in head["expectedWorkers"]], ["host-0-0", ""])

    def test_one_record_for_several_tasks_and_chips(self):
        record = {"tasks": [0, 2], "cores": [{"chips": [0, 1], "index": 0}]}
        made = list(capture.snapshots({"snapshots": [record]}, None))
        self.assertEqual([one["worker"]["task"] for one in made], [0, 2])
        self.assertEqual([core["chip"] for core in made[0]["cores"]], [0, 1])


if __name__ == "__main__":
    unittest.main()
