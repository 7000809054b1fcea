// rapideye logs: recognises events in log files, offline.
#ifndef RAPIDEYE_COORDINATOR_CLI_LOGS_H_
#define RAPIDEYE_COORDINATOR_CLI_LOGS_H_

#include <string>
#include <vector>

#include "classifier/logs/signatures.h"
#include "coordinator/cli/command.h"

namespace rapideye::cli {

class LogsCommand final : public Command {
 public:
  explicit LogsCommand(CLI::App& app);

  // Prints one JSON object or line of text per event to standard output, in the order of the files
  // and their lines (as text "no events" if there are none), and names files that cannot be read on
  // standard error. Returns the program's exit status: 0 if every file was read to its end, 2 if a
  // file was not or the signatures are wrong, 1 if the output cannot be written.
  int Run() override;

 private:
  enum class Outcome { kRead, kBroken, kUnwritten };

  Outcome ReadFile(const std::string& path, const logs::SignatureTable& signatures);

  std::vector<std::string> files_;
  std::string signatures_file_;
  std::string format_ = "json";
  bool all_ = false;
  bool found_ = false;  // anything that is printed
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_LOGS_H_
