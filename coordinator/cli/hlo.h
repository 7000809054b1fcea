// rapideye hlo: shows what the instructions of a program wait for, and where two programs differ.
#ifndef RAPIDEYE_COORDINATOR_CLI_HLO_H_
#define RAPIDEYE_COORDINATOR_CLI_HLO_H_

#include <string>
#include <vector>

#include "coordinator/cli/command.h"

namespace rapideye::cli {

class HloCommand final : public Command {
 public:
  explicit HloCommand(CLI::App& app);

  // Given one text, prints each of its instructions, with what a core waits for at that place.
  // Given two texts, or two directories of dumps, prints where they differ. Returns the program's
  // exit status: 0 if all was read, texts that are not whole included; 2 if a file could not be
  // read, which standard error names; 1 if the output cannot be written.
  int Run() override;

 private:
  bool AsJson() const { return format_ == "json"; }
  int Show() const;
  int Compare() const;

  std::vector<std::string> texts_;
  std::string format_ = "text";
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_HLO_H_
