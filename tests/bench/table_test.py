#!/usr/bin/python3
"""The table of the benchmarks: pairs, medians, and what it refuses."""

import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import table  # noqa: E402


def case(name, time, **more):
    return {"run_type": "iteration", "run_name": name, "real_time": time, "time_unit": "us",
            "iterations": 7, **more}


class Table(unittest.TestCase):
    def test_ratio_of_medians(self):
        cases = [case("copy/floor", 10), case("copy/floor", 1000), case("copy/floor", 12),
                 case("copy/ours/8", 24, label="at most 3")]
        self.assertEqual(table.rows(cases),
                         [["copy: ours", "time", "12 us", "24 us", "2.00", "at most 3"]])

    def test_counters_that_both_have(self):
        cases = [case("agent/floor", 1, MiB=10.0), case("agent/ours", 1, MiB=15.0, polls=3.0)]
        self.assertEqual([row[1:5] for row in table.rows(cases)],
                         [["time", "1 us", "1 us", "1.00"], ["MiB", "10", "15", "1.50"]])

    def test_refuses(self):
        ours = [case("copy/floor", 1), case("copy/ours", 1)]
        self.assertEqual(len(table.rows(ours)), 1)
        for bad in ([case("copy/ours", 1)], [case("copy/floor", 1)], [case("copy", 1)],
                    ours + [case("copy/third", 1, error_occurred=True, error_message="broken")]):
            with self.assertRaises(table.BadBenchmark):
                table.rows(bad)


if __name__ == "__main__":
    unittest.main()
