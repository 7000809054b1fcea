// For tests: runs the programs as a shell would.
#ifndef RAPIDEYE_TESTS_SUPPORT_RUN_PROGRAM_H_
#define RAPIDEYE_TESTS_SUPPORT_RUN_PROGRAM_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rapideye::cli {

struct Result {
  int exit_status = -1;  // as it stays if the program cannot be run
  std::string out;
  std::string err;
};

// `command` is a path and arguments. `stdout_fd` < 0: captured. Standard input is
// the file `input`.
Result RunProgram(std::vector<std::string> command, int stdout_fd = -1,
                  const std::string& input = "/dev/null");
// Where the operator's command was built.
std::string RapideyePath();
// The operator's command.
Result Rapideye(std::vector<std::string> args, int stdout_fd = -1,
                const std::string& input = "/dev/null");

std::string Slurp(const std::string& path);
// A path of this process's own; the file is removed when the process ends.
std::string TempPath(const std::string& name);
// A file with this content; its path.
std::string File(const std::string& name, const std::string& content);

std::vector<nlohmann::ordered_json> JsonLines(const std::string& text);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_TESTS_SUPPORT_RUN_PROGRAM_H_
