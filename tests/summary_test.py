#!/usr/bin/python3
"""That the outcome of a test run is added up, and held to its rules."""

import os
import subprocess
import sys
import tempfile
import unittest

import summary

SUMMARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "summary.py")

ALLOWED = """
[[skip]]
test = 'unit_test: Suite\\.Needs.*'
reason = 'needs root'
why = "not every machine gives it"
"""


def ctest(name, outcome="run", seconds=1.0, reason="Failed", output=""):
    """One test in ctest's report."""
    inner = {"run": "", "fail": f'<failure message="{reason}"/>',
             "notrun": '<skipped message="SKIP_RETURN_CODE=77"/>'}[outcome]
    return (f'<testcase name="{name}" classname="{name}" time="{seconds}" status="{outcome}">'
            f"{inner}<system-out>{output}</system-out></testcase>")


def gtest(name, outcome="passed", reason=""):
    """One case in GoogleTest's report."""
    inner = {"passed": "", "failed": f'<failure message="file.cc:7&#x0A;{reason}"/>',
             "skipped": f'<skipped message="file.cc:9&#x0A;{reason}"/>'}[outcome]
    return f'<testcase name="{name}" classname="Suite" status="run">{inner}</testcase>'


class SummaryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.phases = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)

    def ran(self, kind, preset, tests, reports=None, seconds=60):
        """A run of ctest; `reports`: of GoogleTest, by test."""
        name = f"{preset}.{kind}"
        self.write(f"<testsuite>{''.join(tests)}</testsuite>", f"{name}.xml")
        for test, cases in (reports or {}).items():
            self.write(f"<testsuites>{''.join(cases)}</testsuites>", name, f"{test}.xml")
        self.phases.append("\t".join(
            [kind, preset, str(seconds), self.path(f"{name}.xml"), self.path(name)]))

    def step(self, *fields):
        self.phases.append("\t".join(["step", *fields]))

    def report(self, allowed=None):
        return summary.report(summary.Run(self.phases), allowed)

    def assert_ends(self, expected, well, allowed=None):
        lines, all_is_well = self.report(allowed)
        self.assertEqual(lines[-1], expected)
        self.assertEqual(all_is_well, well)
        return lines

    def allowed(self, text=ALLOWED):
        self.write(text, "allowed_skips.toml")
        return summary.read_allowed_skips(self.path("allowed_skips.toml"))

    def test_counts_a_binary_by_its_cases_and_a_script_as_one(self):
        self.step("passed", "7", "build dev")
        self.ran("ctest", "dev", [ctest("unit_test"), ctest("script")],
                 {"unit_test": [gtest("A"), gtest("B")]})
        self.assert_ends("4 passed, 0 failed, 0 skipped", True)

    def test_nothing_that_passed_is_no_success(self):
        self.assert_ends("0 passed, 0 failed, 0 skipped", False)

    def test_names_a_failed_case_with_its_reason(self):
        self.ran("ctest", "dev", [ctest("unit_test", "fail")],
                 {"unit_test": [gtest("A"), gtest("B", "failed", "1 is not 2")]})
        lines = self.assert_ends("1 passed, 1 failed, 0 skipped", False)
        self.assertIn("failed: dev: unit_test: Suite.B (file.cc:7 1 is not 2)", lines)

    def test_a_failed_step_fails_the_run(self):
        self.step("passed", "1", "build dev")
        self.step("failed", "2", "build asan", "exit status 1")
        lines = self.assert_ends("1 passed, 1 failed, 0 skipped", False)
        self.assertIn("failed: build asan (exit status 1)", lines)

    def test_a_binary_that_crashed_is_a_failure_though_no_case_is(self):
        self.ran("ctest", "dev", [ctest("unit_test", "fail", reason="SEGFAULT")],
                 {"unit_test": [gtest("A")]})
        lines = self.assert_ends("1 passed, 1 failed, 0 skipped", False)
        self.assertIn("failed: dev: unit_test (SEGFAULT)", lines)

    def test_quotes_a_sanitizer(self):
        self.ran("ctest", "asan", [ctest(
            "unit_test", "fail", output="x\nSUMMARY: AddressSanitizer: heap-use-after-free\ny")])
        self.assertIn("failed: asan: unit_test (AddressSanitizer: heap-use-after-free)",
                      self.assert_ends("0 passed, 1 failed, 0 skipped", False))

    def test_says_where_it_was_if_nobody_says_why(self):
        self.ran("ctest", "dev", [ctest("unit_test", "fail", reason="",
                                        output="[ RUN      ] Suite.A\n")])
        self.assertIn("failed: dev: unit_test ([ RUN      ] Suite.A)",
                      self.assert_ends("0 passed, 1 failed, 0 skipped", False))

    def test_a_report_that_is_cut_short_is_no_report(self):
        self.ran("ctest", "dev", [ctest("unit_test", "fail", reason="Timeout")])
        self.write("<testsuites><testcase", "dev.ctest", "unit_test.xml")
        self.assertIn("failed: dev: unit_test (Timeout)",
                      self.assert_ends("0 passed, 1 failed, 0 skipped", False))

    def test_ctest_without_a_report_is_a_failure(self):
        self.phases.append("\t".join(["ctest", "dev", "1", self.path("none.xml"), self.folder]))
        self.assert_ends("0 passed, 1 failed, 0 skipped", False)

    def test_elsewhere_any_skip_will_do(self):
        self.ran("ctest", "dev", [ctest("unit_test"), ctest("script", "notrun", output="no kubectl")],
                 {"unit_test": [gtest("A"), gtest("NeedsSpace", "skipped", "needs space")]})
        lines = self.assert_ends("1 passed, 0 failed, 2 skipped", True)
        self.assertIn("skipped: dev: unit_test: Suite.NeedsSpace (needs space)", lines)
        self.assertIn("skipped: dev: script (no kubectl)", lines)

    def test_a_skip_that_is_allowed_is_none_to_fail_for(self):
        self.ran("ctest", "dev", [ctest("unit_test")],
                 {"unit_test": [gtest("A"), gtest("NeedsRoot", "skipped", "needs root")]})
        lines = self.assert_ends("1 passed, 0 failed, 1 skipped", True, self.allowed())
        self.assertIn("skipped: dev: unit_test: Suite.NeedsRoot (needs root)", lines)

    def test_a_skip_for_another_reason_fails(self):
        self.ran("ctest", "dev", [ctest("unit_test")],
                 {"unit_test": [gtest("A"), gtest("NeedsRoot", "skipped", "needs root today")]})
        lines = self.assert_ends("1 passed, 1 failed, 0 skipped", False, self.allowed())
        self.assertIn("failed: dev: unit_test: Suite.NeedsRoot (skipped, which "
                      "tests/allowed_skips.toml does not allow: needs root today)", lines)

    def test_a_script_s_skip_that_is_not_allowed_fails(self):
        self.ran("ctest", "dev", [ctest("other"), ctest("script", "notrun", output="no kubectl")])
        self.assert_ends("1 passed, 1 failed, 0 skipped", False, self.allowed())

    def test_an_entry_says_why(self):
        with self.assertRaises(SystemExit):
            self.allowed("[[skip]]\ntest = 'a'\nreason = 'b'\n")
        with self.assertRaises(SystemExit):
            self.allowed("[[skip]]\ntest = 'a'\nreason = 'b'\nwhy = ''\n")

    def test_the_list_itself_is_read(self):
        self.assertTrue(summary.read_allowed_skips(summary.ALLOWED_SKIPS))

    def test_what_passes_at_the_second_try_has_passed_and_is_told(self):
        self.ran("ctest", "dev", [ctest("live_test", "fail"), ctest("unit_test")],
                 {"live_test": [gtest("A"), gtest("B", "failed", "too late")],
                  "unit_test": [gtest("C")]})
        self.ran("again", "dev", [ctest("live_test")], {"live_test": [gtest("A"), gtest("B")]})
        lines = self.assert_ends("3 passed, 0 failed, 0 skipped", True)
        self.assertIn("passed at the second try: dev: live_test (file.cc:7 too late)", lines)
        self.assertEqual(lines[-2], "1 passed at the second try only")

    def test_what_crashed_at_the_first_try_is_told_with_that(self):
        self.ran("ctest", "dev", [ctest("live_test", "fail", reason="Timeout")])
        self.ran("again", "dev", [ctest("live_test")], {"live_test": [gtest("A")]})
        self.assertIn("passed at the second try: dev: live_test (Timeout)",
                      self.assert_ends("1 passed, 0 failed, 0 skipped", True))

    def test_what_fails_twice_has_failed_once(self):
        self.ran("ctest", "dev", [ctest("live_test", "fail")],
                 {"live_test": [gtest("A", "failed", "first")]})
        self.ran("again", "dev", [ctest("live_test", "fail")],
                 {"live_test": [gtest("A", "failed", "second")]})
        lines = self.assert_ends("0 passed, 1 failed, 0 skipped", False)
        self.assertIn("failed: dev: live_test: Suite.A (file.cc:7 second)", lines)
        self.assertFalse([line for line in lines if "second try" in line])

    def test_a_second_try_helps_no_other_build(self):
        for preset in ("dev", "asan"):
            self.ran("ctest", preset, [ctest("live_test", "fail")])
        self.ran("again", "dev", [ctest("live_test")])
        self.assert_ends("1 passed, 1 failed, 0 skipped", False)

    def test_shows_where_the_time_went(self):
        self.step("passed", "75", "build dev")
        self.ran("ctest", "dev", [ctest(f"test_{i}", seconds=i) for i in range(20)], seconds=190)
        lines, _ = self.report()
        self.assertEqual(lines[:4], ["  1:15  build dev", "  3:10  tests, dev", "slowest tests:",
                                     "    19.0 s  dev: test_19"])
        self.assertEqual(len([line for line in lines if " s  dev: " in line]), 10)

    def test_as_a_program_it_holds_only_continuous_integration_to_the_list(self):
        self.ran("ctest", "dev", [ctest("one"), ctest("script", "notrun", output="no kubectl")])
        self.write("".join(line + "\n" for line in self.phases), "phases")
        for ci, status, last in (("", 0, "1 passed, 0 failed, 1 skipped"),
                                 ("true", 1, "1 passed, 1 failed, 0 skipped")):
            run = subprocess.run([sys.executable, SUMMARY, self.path("phases")],
                                 env={**os.environ, "CI": ci}, capture_output=True, text=True,
                                 check=False)
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
            self.assertEqual(run.stdout.splitlines()[-1], last)


if __name__ == "__main__":
    unittest.main()
