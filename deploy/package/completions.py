#!/usr/bin/python3
"""Completions for bash, made from --help of the programs.

usage: completions.py BIN FLAGS

BIN holds the programs; FLAGS is the folder of flags.py, which reads --help.
"""

import os
import sys

PROGRAMS = ("rapideye", "rapideye-agent", "rapideye-coordinator")

BEGINNING = """\
# Completions for bash of rapideye, rapideye-agent and rapideye-coordinator. Made from --help.
_rapideye() {
  local current=${COMP_WORDS[COMP_CWORD]} path=${COMP_WORDS[0]##*/} word i
  COMPREPLY=()
  # The subcommands so far; bash splits words at '=', too.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == -* || $word == = || ${COMP_WORDS[i - 1]} == = ]] && continue
    case " $(_rapideye_words "$path") " in
      *" $word "*) path+=" $word" ;;
    esac
  done
  if [[ $current == = || ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    [[ $current == = ]] && current=
    compopt -o default
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$(_rapideye_words "$path")" -- "$current")
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then compopt -o default; fi
}

_rapideye_words() {
  case "$1" in
"""

END = """\
  esac
}

complete -F _rapideye rapideye rapideye-agent rapideye-coordinator
"""


def words(command):
    listed = list(command.subcommands)
    listed += [f"--{flag.name}=" if flag.kind else f"--{flag.name}" for flag in command.flags]
    listed.append("--help")
    if not command.path:
        listed.append("--version")
    return " ".join(listed)


def main():
    directory, flags_folder = sys.argv[1:]
    sys.path.insert(0, flags_folder)
    import flags  # pylint: disable=import-outside-toplevel,import-error

    text = BEGINNING
    for program in PROGRAMS:
        for command in flags.commands(os.path.join(directory, program)):
            path = " ".join((program, *command.path))
            text += f"    {path!r}) echo '{words(command)}' ;;\n"
    sys.stdout.write(text + END)


if __name__ == "__main__":
    main()
