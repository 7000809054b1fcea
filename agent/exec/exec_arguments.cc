#include "agent/exec/exec_arguments.h"

#include <algorithm>

namespace rapideye::agent {

std::vector<std::string> FindCommand(const std::vector<std::string>& arguments) {
  const auto end = arguments.end();
  const auto first = std::find(arguments.begin(), end, "exec");
  if (first == end) return {};
  const auto dashes = std::find(arguments.begin(), end, "--");
  // Words from here on are the command's own, `--` included.
  if (dashes < first) return {};
  if (dashes == end) return {first + 1, end};
  // A `--` behind words that are no flags belongs to the command.
  const bool only_flags =
      std::all_of(first + 1, dashes, [](const std::string& word) { return word.starts_with('-'); });
  const bool exec_before = *(dashes - 1) == "exec";
  return only_flags || exec_before ? std::vector<std::string>(dashes + 1, end)
                                   : std::vector<std::string>(first + 1, end);
}

}  // namespace rapideye::agent
