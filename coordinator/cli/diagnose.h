// rapideye diagnose: classifies captures offline.
#ifndef RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_
#define RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_

#include <string>
#include <vector>

#include "coordinator/cli/command.h"

namespace rapideye::cli {

class Diagnose final : public Command {
 public:
  explicit Diagnose(CLI::App& app);

  // Prints one digest per capture to standard output, in the order given, and
  // names broken captures on standard error. Returns the program's exit status:
  // 0 if every capture was read, 2 if one was not, 1 if the output cannot be
  // written.
  int Run() override;

 private:
  std::vector<std::string> captures_;
  std::string format_ = "json";
  std::string digest_format_ = "classic";
  bool explain_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DIAGNOSE_H_
