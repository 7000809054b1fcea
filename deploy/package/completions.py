#!/usr/bin/python3
"""Completions for bash and zsh, made from --help of the programs.

usage: completions.py BIN FLAGS

BIN holds the programs; FLAGS is the folder of flags.py, which reads --help. Both shells source the
same text, zsh after compinit.
"""

import os
import sys

PROGRAMS = ("rapideye", "rapideye-agent", "rapideye-coordinator")

BEGINNING = """\
# Completions for bash and zsh of rapideye, rapideye-agent and rapideye-coordinator. Made from --help.
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

# The same in zsh, whose arrays begin at 1.
_rapideye_zsh() {
  local called=${words[1]##*/} word i
  local -a equals plain all
  for ((i = 2; i < CURRENT; ++i)); do
    word=${words[i]}
    [[ $word == -* ]] && continue
    case " $(_rapideye_words "$called") " in
      *" $word "*) called+=" $word" ;;
    esac
  done
  if compset -P '*='; then
    _files
    return
  fi
  all=($(_rapideye_words "$called"))
  for word in "${all[@]}"; do
    if [[ $word == *= ]]; then equals+=("$word"); else plain+=("$word"); fi
  done
  compadd -S '' -- "${equals[@]}"
  compadd -- "${plain[@]}"
  ((compstate[nmatches])) || _files
}

_rapideye_words() {
  case "$1" in
"""

END = """\
  esac
}

if [[ -n ${ZSH_VERSION-} ]]; then
  compdef _rapideye_zsh rapideye rapideye-agent rapideye-coordinator
else
  complete -F _rapideye rapideye rapideye-agent rapideye-coordinator
fi
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
