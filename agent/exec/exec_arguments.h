// FindCommand finds the training command among arguments that cannot be parsed.
#ifndef RAPIDEYE_AGENT_EXEC_EXEC_ARGUMENTS_H_
#define RAPIDEYE_AGENT_EXEC_EXEC_ARGUMENTS_H_

#include <string>
#include <vector>

namespace rapideye::agent {

// The command of `[FLAGS] exec [--] COMMAND [ARGUMENT...]`, whatever the flags are; empty if
// there is none. `arguments`: without the program's own name. A `--` in front of the
// command is not part of it.
std::vector<std::string> FindCommand(const std::vector<std::string>& arguments);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_EXEC_EXEC_ARGUMENTS_H_
