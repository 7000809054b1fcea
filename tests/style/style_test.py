#!/usr/bin/python3
"""The checks of the text refuse what they must."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, HERE)
import format as clang_format  # noqa: E402
import shape  # noqa: E402
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


if __name__ == "__main__":
    unittest.main()
