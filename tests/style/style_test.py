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

    def test_files(self):
        self.write("agent/a.cc", "\n" * shape.MAX_FILE)
        self.write("tests/data.jsonl", "\n" * 10000)
        self.write("README.md", "\n" * 10000)
        self.assertEqual(shape.problems(self.root), [])
        self.write("agent/a.cc", "\n" * (shape.MAX_FILE + 1))
        self.assertIn("agent/a.cc: 701 lines", shape.problems(self.root)[0])

    def refused(self, path, long_enough, too_long):
        self.write(path, long_enough)
        self.assertEqual(shape.problems(self.root), [])
        self.write(path, too_long)
        [problem] = shape.problems(self.root)
        return problem

    def test_rules_build_no_sentences(self):
        rule = "classifier/rules/a.cc"
        self.write(rule, '#include "classifier/findings/facts.h"\n')
        self.write("classifier/rules/a_test.cc", '#include "absl/strings/str_cat.h"\n')
        self.write("classifier/findings/facts.cc", '#include "absl/strings/str_cat.h"\n')
        self.assertEqual(shape.problems(self.root), [])
        [problem] = shape.problems(self.root, worded={rule})
        self.assertIn("take it off the list", problem)
        self.write(rule, '#include "absl/strings/str_cat.h"\n')
        [problem] = shape.problems(self.root)
        self.assertIn("a rule returns facts", problem)
        self.assertEqual(shape.problems(self.root, worded={rule}), [])

    def test_threads_are_those_of_the_library(self):
        own = "// A runs.\n#include <thread>\nstd::thread worker;\n"
        self.write("proto/common/worker/thread.h", own)
        self.write("agent/a_test.cc", own)
        self.write("tests/sim/a.h", own)
        self.assertEqual(shape.problems(self.root), [])
        self.write("agent/a.h", own)
        [problem] = shape.problems(self.root)
        self.assertIn("agent/a.h: std::thread: use Thread", problem)

    def test_classes(self):
        def text(lines):
            return ("// Big is big.\nnamespace a {\nnamespace {\n\ntemplate <typename T>\nclass Big final : public Base<T>,\n"
                    "                  private Other {\n public:\n" + "  void F(int i);\n" * (lines - 7)
                    + "\n private:\n};\n\n}  // namespace\n}  // namespace a\n")
        self.assertIn("agent/a.h:5: class Big has 121 lines; at most 120",
                      self.refused("agent/a.h", text(120), text(121)))

    def test_classes_within_classes(self):
        def text(lines):
            return ("class Outer {\n struct Forward;\n  enum class E { kA };\n};\n"
                    "struct Outer::Inner {\n" + "  int i = 0;\n" * (lines - 2) + "};\n")
        self.assertIn("class Outer::Inner has 121", self.refused("agent/a.cc", text(120), text(121)))

    def test_functions(self):
        def text(lines):
            return "int F(int i,\n      int j) {\n" + "  ++i;\n" * (lines - 3) + "}\n"
        self.assertIn("agent/a.cc:1: function F has 61 lines; at most 60",
                      self.refused("agent/a.cc", text(60), text(61)))

    def test_functions_of_a_class(self):
        def text(lines):
            return ("// A is a class.\nclass A {\n public:\n  A() {}\n  ~A() {\n" + "    F();\n" * (lines - 2)
                    + "  }\n};\n")
        self.assertIn("agent/a.h:5: function ~A has 61", self.refused("agent/a.h", text(60), text(61)))

    def test_a_constructor_with_initialisers_ends_with_its_own_body(self):
        constructor = "A::A(int i)\n    : a_{i},\n      b_(i) {\n  F();\n}\n\n"
        function = "void A::F() {\n" + "  G();\n" * 40 + "}\n\n"
        self.write("agent/a.cc", constructor + function + "A::A() : a_(1) {}\n\n" + function)
        self.assertEqual(shape.problems(self.root), [])
        self.write("agent/a.cc", constructor.replace("  F();\n", "  F();\n" * 60))
        self.assertIn("function A has 64", shape.problems(self.root)[0])

    def test_data_and_raw_strings_are_no_functions(self):
        self.write("agent/a.cc", "const std::vector<int> kAll = {\n" + "    F(1),\n" * 100 + "};\n\n"
                   'constexpr char kText[] = R"(\nvoid F() {\n' + "\n" * 100 + '}\n)";\n')
        self.assertEqual(shape.problems(self.root), [])

    def test_a_class_stands_in_one_file(self):
        self.write("agent/a.cc", "namespace x {\nvoid A::F() {}\n\nstd::vector<B::C> A::G() const {\n  H();\n}\n}\n")
        # Calls, other folders' classes, and those that one file alone knows.
        self.write("agent/b.cc", "void F() { A::F(); }\nint k = A::F();\nint B::F() {\n}\nclass Own {\n};\nOwn::Own() {}\n")
        self.write("agent/c.cc", "class Own {\n};\nOwn::Own() {}\n")
        self.write("proto/b.cc", "void A::F() {}\n")
        self.assertEqual(shape.problems(self.root), [])
        self.write("agent/b.cc", "A::A()\n    : a_(1) {\n}\n")
        [problem] = shape.problems(self.root)
        self.assertIn("agent/b.cc: members of A stand in agent/a.cc as well", problem)
        self.assertEqual(shape.problems(self.root, {}, {("agent", "A"): "later"}), [])
        self.write("agent/b.cc", "")
        [problem] = shape.problems(self.root, {}, {("agent", "A"): "later"})
        self.assertIn("take it off the list", problem)

    def test_an_exception_may_shrink_only(self):
        def text(lines):
            return "int F() {\n" + "  G();\n" * (lines - 2) + "}\n"

        def problems(lines):
            self.write("agent/a.cc", text(lines))
            return shape.problems(self.root, {("agent/a.cc", "F"): (70, "later")})

        self.assertEqual(problems(70), [])
        self.assertEqual(problems(61), [])
        self.assertIn("at most 70 (later)", problems(71)[0])
        self.assertIn("take it off the list", problems(60)[0])

    def test_how_a_header_begins(self):
        for good in ("// Tracks PCIe errors.\n", "/* The page holds a step. */\n", "// Whole pages.\n",
                     "// Oneness is measured.\n", "// Reads logs.\n// What is new comes first.\n"):
            self.write("agent/a.h", good)
            self.write("agent/a.cc", "// What a file of code begins with is its own.\n")
            self.assertEqual(shape.problems(self.root), [], good)
        for word in ("What", "Who", "Which", "One", "How", "Whether", "Where"):
            self.write("agent/a.h", f"// {word} is seen here.\n")
            [problem] = shape.problems(self.root)
            self.assertIn(f"agent/a.h:1: begins with '{word}'", problem)
        self.write("agent/a.h", "/* What is seen. */\n")
        self.assertIn("begins with 'What'", shape.problems(self.root)[0])
        self.write("agent/a.h", "#ifndef A_H_\n")
        self.assertIn("begins with no comment", shape.problems(self.root)[0])


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

    def run_tidy(self, each=True):
        """(checked, remembered, failed)"""
        tidy.text_of.cache_clear()
        tidy.direct_includes.cache_clear()
        with contextlib.redirect_stdout(io.StringIO()):
            return tidy.tidy(self.root, os.path.join(self.root, "build"),
                             os.path.join(self.root, "stamps"), 1, each)

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

    def test_files_that_are_compiled_together_are_checked_together(self):
        with open(os.path.join(ROOT, ".clang-tidy"), encoding="utf-8") as file:
            self.write(".clang-tidy", file.read())
        self.write("agent/a.h", "int f();\n")
        sources = [self.write("agent/a.cc", '#include "agent/a.h"\nint f() { return 1; }\n'),
                   self.write("agent/b.cc", "int g() { return f(); }\n")]
        unit = self.write("build/x.dir/Unity/unity_0_cxx.cxx",
                          "".join(f'#include "{source}"\n' for source in sources))
        self.write("build/compile_commands.json", json.dumps(
            [{"directory": self.root, "file": unit,
              "command": f"/usr/bin/g++ -I{self.root} -c {unit} -o a.o"}]))
        self.assertEqual(self.run_tidy(each=False), (1, 0, []))
        self.assertEqual(self.run_tidy(each=False), (0, 1, []))
        self.assertEqual(self.run_tidy(), (2, 0, ["agent/b.cc"]))
        self.write("agent/b.cc", "int g() { return sizeof(sizeof(f())); }\n")
        self.assertEqual(self.run_tidy(each=False), (1, 0, ["build/x.dir/Unity/unity_0_cxx.cxx"]))


if __name__ == "__main__":
    unittest.main()
