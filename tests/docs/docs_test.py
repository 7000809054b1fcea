#!/usr/bin/python3
"""That the checks of the documents find what they are there to find."""

import os
import tempfile
import unittest

import bindings
import configuration
import examples
import flags
import links

HELP = """\
Watches a thing.
Usage: rapideye-agent [OPTIONS]

Options:
  -h,--help                       Print this help message and exit
  --log=TEXT                      files to follow [repeatable; default: none; RAPIDEYE_LOG]
  --format=TEXT:{text,json}       of a|b [default: text; RAPIDEYE_FORMAT]
  --a-very-long-flag=auto|DURATION
                                  after so long [default: auto; RAPIDEYE_A_VERY_LONG_FLAG]
  --once                          look once [default: false; RAPIDEYE_ONCE]

Subcommands:
  show                            Print one.
"""


class FlagsTest(unittest.TestCase):
    def setUp(self):
        self.command = flags.parse((), HELP)

    def test_reads_every_flag(self):
        self.assertEqual([f.name for f in self.command.flags],
                         ["log", "format", "a-very-long-flag", "once"])
        self.assertEqual(self.command.flags[0],
                         flags.Flag("log", "TEXT", "", "RAPIDEYE_LOG", True, "files to follow"))
        self.assertEqual(self.command.flags[1].kind, "text|json")
        self.assertEqual(self.command.flags[2].meaning, "after so long")
        self.assertEqual(self.command.subcommands, ["show"])

    def test_refuses_a_flag_without_variable(self):
        with self.assertRaises(flags.HelpError):
            flags.parse((), "Title\n\nOptions:\n  --odd=TEXT      says nothing\n")

    def test_table_escapes_bars(self):
        self.assertIn("| `--format=text\\|json` | `RAPIDEYE_FORMAT` | `text` | of a\\|b |",
                      configuration.table(self.command.flags))


class ExamplesTest(unittest.TestCase):
    KNOWN = {"rapideye": {"format"}, "rapideye-agent": {"log"}, "rapideye-coordinator": set()}

    def names(self, text):
        return list(examples.unknown_names("x", text, self.KNOWN, {"RAPIDEYE_LOG"}))

    def test_takes_what_there_is(self):
        self.assertEqual(self.names("rapideye-agent --log=a \\\n  --log=b; RAPIDEYE_LOG=c\n"
                                    "`rapideye show` or RAPIDEYE_<FLAG>"), [])

    def test_finds_a_flag_of_another_program(self):
        self.assertEqual(len(self.names("run rapideye-coordinator --log=a")), 1)

    def test_finds_a_flag_on_a_continued_line(self):
        self.assertEqual(len(self.names("rapideye-agent \\\n --logs=a")), 1)

    def test_finds_an_unknown_variable(self):
        self.assertEqual(len(self.names("RAPIDEYE_LOGS: a")), 1)


class LinksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("README.md", "# The house\n\n## How to: `build` it\n\n## How to: `build` it\n")
        self.write("agent/core/a.h", "")

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def found(self, path, text):
        self.write(path, text)
        return links.problems(self.root)

    def test_takes_what_there_is(self):
        self.assertEqual(self.found("agent/GUIDE.md", """\
[a](core/a.h), [b](../README.md#how-to-build-it-1), [c](https://nowhere.example/x.md), [d](#on-this-page)
[core]: core
`core/a.h`, `agent/core/*.h`, `agent/core/<name>.h`, `a/b`, `SUBJECT_test.cc`, `python3 train`
## On this page
```
[e](nowhere) `agent/nowhere.h`
```
`[f](nowhere)`
"""), [])

    def test_finds_a_link_to_nowhere(self):
        self.assertEqual(self.found("agent/GUIDE.md", "# A\n\n```\nx\n```\n[a](core/b.h)"),
                         ["agent/GUIDE.md:6: the link to core/b.h leads nowhere"])
        self.assertEqual(len(self.found("agent/GUIDE.md", "[a]: core/b.h")), 1)

    def test_finds_an_anchor_of_no_section(self):
        self.assertEqual(self.found("agent/GUIDE.md", "[a](../README.md#how-to-run-it)"),
                         ["agent/GUIDE.md:1: README.md has no section #how-to-run-it"])
        self.assertEqual(len(self.found("agent/GUIDE.md", "[a](#how-to-build-it)")), 1)
        self.assertEqual(len(self.found("agent/GUIDE.md", "[a](core/a.h#L1)")), 1)

    def test_finds_a_path_that_does_not_exist(self):
        for word in ("agent/core/b.h", "core/b.h", "b.h", "agent/nowhere/<name>.h", "agent/*.py",
                     "agent/nowhere.sh --flag"):
            self.assertEqual(self.found("agent/GUIDE.md", f"`{word}`"),
                             [f"agent/GUIDE.md:1: there is no {word.split()[0]}"])

    def test_takes_documents_that_sources_name(self):
        self.assertEqual(self.found("agent/core/b.cc", """\
// See README.md, "The house" and
// "How to: build it"; README, "The house"; https://nowhere.example/GUIDE.md
"""), [])
        self.write("deploy/REMOVAL.md", "")
        self.assertEqual(self.found("tests/run.sh", "ls /usr/share/doc/rapideye/REMOVAL.md\n"), [])
        self.assertEqual(self.found("tests/a.py", 'join("deploy", "REMOVAL.md")\n'), [])

    def test_finds_documents_that_are_not_there(self):
        self.assertEqual(self.found("agent/core/b.cc", "\n// As in agent/GUIDE.md.\n"),
                         ["agent/core/b.cc:2: there is no agent/GUIDE.md"])
        self.assertEqual(self.found("agent/core/b.cc", '\n// A\n// b (README, "The\n// garden").\n'),
                         ['agent/core/b.cc:3: README.md has no section "The garden"'])
        self.assertEqual(len(self.found("agent/core/b.cc", "// 500 ms (contract: commands)")), 1)


PROTO = """\
message Core {  // of a chip
  enum Type { TYPE_UNSPECIFIED = 0; TENSOR = 1; SPARSE = 2; }
  Type type = 1;
  optional int64 stuck_ms = 2 [
    (check).non_negative = true];
  oneof what { string name = 3; }
  repeated Core cores = 4;
}
"""

CAPTURE = """\
## Messages
### Core
| field | type | meaning |
|---|---|---|
| `type` | `TENSOR` `SPARSE` | |
| `stuckMs?` | int64 | |
| `name` | string | |
| `cores` | list of Core | |
"""


class BindingsTest(unittest.TestCase):
    def capture(self, old="", new=""):
        return list(bindings.capture_problems(CAPTURE.replace(old, new), PROTO))

    def test_takes_a_capture_as_it_is(self):
        self.assertEqual(self.capture(), [])

    def test_finds_what_differs_in_a_capture(self):
        self.assertEqual(self.capture("| `name` | string | |\n"), ["Core: name is not written down"])
        self.assertEqual(self.capture("`name`", "`names`"),
                         ["Core: name is not written down", "Core: there is no names"])
        self.assertEqual(self.capture("Ms?`", "Ms`"), ["Core.stuckMs: may be absent"])
        self.assertEqual(self.capture("`name`", "`name?`"), ["Core.name: cannot be absent"])
        self.assertEqual(self.capture(" `SPARSE`"),
                         ["Core.type: written down as 'TENSOR', it is 'TENSOR SPARSE'"])
        self.assertEqual(self.capture("list of "),
                         ["Core.cores: written down as 'Core', it is 'list of Core'"])
        self.assertEqual(self.capture("### Core", "### Cor"),
                         ["messages: Core is not written down", "messages: there is no Cor"])

    SCHEMA = {
        "definitions": {"who": {"required": ["slice"], "properties": {"slice": {}}}},
        "required": ["job", "links"],
        "properties": {"job": {}, "links": {"type": "array", "items": {
            "allOf": [{"$ref": "#/definitions/who"}], "required": ["why"],
            "properties": {"why": {}, "nic": {}}}}},
    }
    WORDING = """\
const char* Headline(Cause cause) {
  return "A hang "
         "of one.";
}
const char* HostsPrefix(Cause cause) {
  return "";
}
const char* PotentialCause(Cause cause) {
  switch (cause) {
    case Cause::kBadChip:
      return "Bad chips";
  }
}
"""

    def digest(self, keys, sentence="A hang of one."):
        text = f"{sentence}\n## JSON\n```\n{keys}\n```\n"
        return list(bindings.digest_problems(text, self.SCHEMA, self.WORDING))

    def test_takes_a_digest_as_it_is(self):
        self.assertEqual(self.digest("job  # a name\nlinks [{slice nic? why}]"), [])

    def test_finds_what_differs_in_a_digest(self):
        self.assertEqual(self.digest("job links [{slice why}]"),
                         ["key of the digest in links: nic is not written down"])
        self.assertEqual(self.digest("job? links [{slice nic? why}]"),
                         ["key job of the digest: required"])
        self.assertEqual(len(self.digest("job links [{slice nic? why}]", "A hang.")), 1)

    VERDICT = "enum class Cause { kBadChip, kNoHang };\nenum class Detail {\n kNone, kDcnLink,  // a\n};"

    def causes(self, table, judged="`BAD_CHIP`, `NO_HANG`"):
        head = "| a | b | c |\n|---|---|---|\n"
        text = f"## Causes and details\n{head}{table}\n## Removal\n| a | b |\n|---|---|\n| {judged} | |\n"
        return list(bindings.cause_problems(text, self.VERDICT, self.WORDING))

    def test_holds_causes_to_the_enums(self):
        no_hang = "| `NO_HANG` | | |\n"
        self.assertEqual(self.causes("| `BAD_CHIP` | Bad chips | `DCN_LINK` |\n" + no_hang), [])
        self.assertEqual(self.causes("| `BAD_CHIP` | Bad chip | `ICI` |\n" + no_hang),
                         ["detail: DCN_LINK is not written down", "detail: there is no ICI",
                          "cause BAD_CHIP: the digest calls it 'Bad chips'"])
        self.assertEqual(self.causes("| `BAD_CHIP` | Bad chips | `DCN_LINK` |\n" + no_hang, "`NO_HANG`"),
                         ["what removal DCN_LINK allows is not written down"])

    COMMANDS = """\
## What all programs do alike
| exit status | means |
|---|---|
| 0 | success |
## rapideye-agent
| path | serves |
|---|---|
| `/metrics` | figures |
## HTTP
| path | serves |
|---|---|
| `/`, `/incidents/<id>`, `/incidents/<id>.txt` | pages |
## HTTP of a remover
| path | serves |
|---|---|
| `/readyz` | 200 |
## Incidents on disk
| file | holds |
|---|---|
| `digest.txt` | text |
## rapideye
| command | does |
|---|---|
| `rapideye show ID` | prints |
"""
    CODE = {
        "proto/a.h": "constexpr int kExitOk = 0;",
        "agent/a.cc": '"not here; there are /metrics\\n"',
        "coordinator/removal/a.cc": '"not here; there are /readyz\\n"',
        "coordinator/server/a.cc": '"not here; there are /" {"", IncidentForm::kHtml {".txt", IncidentForm::kText',
        "coordinator/a.h": 'inline constexpr char kTextFile[] = "digest.txt";',
    }

    def commands(self, old="", new=""):
        return list(bindings.command_problems(self.COMMANDS.replace(old, new),
                                              "### rapideye show\n", self.CODE))

    def test_holds_commands_to_the_code(self):
        self.assertEqual(self.commands(), [])
        for old, new in (("| 0 |", "| 3 |"), ("/metrics", "/healthz"), ("`/`", "`/x`"), ("/readyz", "/ready"),
                         ("digest.txt", "digest.md"), ("show ID", "print ID")):
            self.assertEqual(len(self.commands(old, new)), 2, old)

    def test_says_what_it_cannot_read(self):
        with self.assertRaisesRegex(bindings.Unreadable, "no section 'HTTP'"):
            self.commands("## HTTP\n", "## Pages\n")
        with self.assertRaisesRegex(bindings.Unreadable, "exit status"):
            list(bindings.command_problems(self.COMMANDS, "", {}))


if __name__ == "__main__":
    unittest.main()
