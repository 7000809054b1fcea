#!/usr/bin/python3
"""That the checks of the documents find what they are there to find."""

import unittest

import configuration
import examples
import flags

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


if __name__ == "__main__":
    unittest.main()
