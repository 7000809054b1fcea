#!/usr/bin/python3
"""That a fuzzer's list of functions is added up by source file."""

import os
import subprocess
import sys
import unittest

COVERAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coverage.py")

LIST = b"""INFO: seed corpus: files: 9
COVERAGE:
COVERED_FUNC: hits: 7 edges: 10/20 a::Parse(std::string const&) /src/build/asan/../../agent/parse.cc:7
  UNCOVERED_PC: /src/agent/parse.cc:9
UNCOVERED_FUNC: hits: 0 edges: 0/20 a::Other() /src/agent/parse.cc:90
COVERED_FUNC: hits: 1 edges: 3/4 LLVMFuzzerTestOneInput /src/tests/fuzz/parse_fuzzer.cc:3
COVERED_FUNC: hits: 1 edges: 3/4 std::sort(\xff) /usr/include/c++/12/algorithm:3
COVERED_FUNC: hits: 1 edges: 1/1 b::Made() /src/build/asan/generated/b.cc:3
UNCOVERED_FUNC: hits: 0 edges: 0/9 c::Linked() /src/proto/linked.cc:3
"""


def coverage(text):
    return subprocess.run([sys.executable, COVERAGE, "parse", "/src"], input=text,
                          capture_output=True, check=False)


class Coverage(unittest.TestCase):

    def test_edges_of_the_files_that_are_reached(self):
        done = coverage(LIST)
        self.assertEqual(done.stdout.decode(), "coverage of parse: 10 of 40 edges, 25 %\n"
                                               "   25 %  agent/parse.cc\n")
        self.assertEqual(done.returncode, 0)

    def test_a_program_without_a_list(self):
        done = coverage(b"AddressSanitizer: nothing\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no list", done.stdout)


if __name__ == "__main__":
    unittest.main()
