#!/usr/bin/python3
"""The checks of the text, and the sum of the tests, refuse what they must."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [HERE, os.path.dirname(HERE)]
import format as clang_format  # noqa: E402
import shape  # noqa: E402
import summary  # noqa: E402
import tidy  # noqa: E402


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        return full


class Shape(Tree):
    def test_top_level(self):
        self.write("agent/a.cc", "")
        self.write(".clang-format", "")
        self.assertEqual(shape.problems(self.root), [])
        self.write("notes.txt", "")
        self.assertIn("notes.txt: not among", shape.problems(self.root)[0])

    def test_size(self):
        self.write("agent/a.cc", "\n" * shape.MAX_LINES)
        self.write("tests/data.jsonl", "\n" * 10000)
        self.assertEqual(shape.problems(self.root), [])
        self.write("agent/a.cc", "\n" * (shape.MAX_LINES + 1))
        self.assertIn("agent/a.cc: 451 lines", shape.problems(self.root)[0])


class Format(Tree):
    def test_format(self):
        with open(os.path.join(ROOT, ".clang-format"), encoding="utf-8") as file:
            self.write(".clang-format", file.read())
        self.write("good.cc", "int f() { return 1; }\n")
        self.assertEqual(clang_format.unformatted(self.root, ["good.cc"]), "")
        self.write("bad.cc", "int  f( ){ return 1; }\n")
        self.assertIn("bad.cc", clang_format.unformatted(self.root, ["good.cc", "bad.cc"]))


class Tidy(Tree):
    GOOD = '#include "b.h"\nint f() { return kOne; }\n'

    def setUp(self):
        super().setUp()
        self.write(".clang-tidy", "Checks: '-*,bugprone-sizeof-expression'\nWarningsAsErrors: '*'\n")
        source = self.write("a.cc", self.GOOD)
        self.write("b.h", "constexpr int kOne = 1;\n")
        precompiled = self.write("build/cmake_pch.hxx", "constexpr int kTwo = 2;\n")
        command = (f"/usr/bin/g++ -I{self.root} -Winvalid-pch -include {precompiled} "
                   f"-c {source} -o a.o")
        self.write("build/compile_commands.json", json.dumps(
            [{"directory": self.root, "command": command, "file": source}]))

    def run_tidy(self):
        """(checked, remembered, failed)"""
        tidy.text_of.cache_clear()
        tidy.direct_includes.cache_clear()
        with contextlib.redirect_stdout(io.StringIO()):
            return tidy.tidy(self.root, os.path.join(self.root, "build"),
                             os.path.join(self.root, "stamps"), 1)

    def test_remembers_what_passed_until_an_input_changes(self):
        self.assertEqual(self.run_tidy(), (1, 0, []))
        self.assertEqual(self.run_tidy(), (0, 1, []))
        self.write("b.h", "constexpr int kOne = 2;\n")
        self.assertEqual(self.run_tidy(), (1, 0, []))

    def test_a_finding_fails_every_time(self):
        self.write("a.cc", "int f() { return sizeof(sizeof(int)); }\n")
        self.assertEqual(self.run_tidy(), (1, 0, ["a.cc"]))
        self.assertEqual(self.run_tidy(), (1, 0, ["a.cc"]))

    def test_a_file_includes_what_it_uses_whatever_is_precompiled(self):
        self.write("a.cc", "int f() { return kTwo; }\n")
        self.assertEqual(self.run_tidy(), (1, 0, ["a.cc"]))


class Summary(Tree):
    GTEST = ('<testsuites><testsuite name="S">'
             '<testcase classname="S" name="Passes" status="run" result="completed"/>'
             '{}</testsuite></testsuites>')
    FAILS = ('<testcase classname="S" name="Fails" status="run" result="completed">'
             '<failure message="a.cc:1&#x0A;no">x</failure></testcase>')
    SKIPS = ('<testcase classname="S" name="Skips" status="run" result="skipped">'
             '<skipped message="a.cc:1&#x0A;needs root"/></testcase>')

    def outcome(self, status, gtest=None):
        body = '<failure message="Timeout"/>' if status == "fail" else ""
        self.write("ctest.xml", f'<testsuite><testcase name="t" status="{status}">{body}</testcase></testsuite>')
        if gtest is not None:
            self.write("gtest/t.xml", self.GTEST.format(gtest))
        lines, well = summary.report(summary.all_cases(
            [f"ctest\tdev\t{self.root}/ctest.xml\t{self.root}/gtest\n", "step\tpassed\tbuild\n"]))
        return lines, well

    def test_binaries_count_by_their_cases(self):
        self.assertEqual(self.outcome("run"), (["2 passed, 0 failed, 0 skipped"], True))
        self.assertEqual(self.outcome("run", ""), (["2 passed, 0 failed, 0 skipped"], True))
        self.assertEqual(self.outcome("run", self.SKIPS), (
            ["skipped: dev: t: S.Skips (needs root)", "2 passed, 0 failed, 1 skipped"], True))

    def test_failures_are_named(self):
        self.assertEqual(self.outcome("fail", self.FAILS), (
            ["failed: dev: t: S.Fails (a.cc:1)", "2 passed, 1 failed, 0 skipped"], False))

    def test_a_crash_after_all_cases_passed_is_a_failure(self):
        self.assertEqual(self.outcome("fail", ""), (
            ["failed: dev: t (Timeout)", "2 passed, 1 failed, 0 skipped"], False))

    def test_a_crash_without_a_report_is_a_failure(self):
        self.assertEqual(self.outcome("fail"), (
            ["failed: dev: t (Timeout)", "1 passed, 1 failed, 0 skipped"], False))

    def test_no_report_of_ctest_is_a_failure(self):
        lines, well = summary.report(summary.all_cases(["ctest\tdev\t/nowhere\t/nowhere\n"]))
        self.assertEqual((lines[-1], well), ("0 passed, 1 failed, 0 skipped", False))

    def test_nothing_passed_is_no_success(self):
        self.assertEqual(summary.report([]), (["0 passed, 0 failed, 0 skipped"], False))


if __name__ == "__main__":
    unittest.main()
