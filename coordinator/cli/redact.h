// rapideye redact: makes captures that can be shown to others.
#ifndef RAPIDEYE_COORDINATOR_CLI_REDACT_H_
#define RAPIDEYE_COORDINATOR_CLI_REDACT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cli/command.h"
#include "proto/common/secrets/redactor.h"

namespace rapideye::cli {

class RedactCommand final : public Command {
 public:
  explicit RedactCommand(CLI::App& app);

  // Writes each capture anew, without secrets and with a pseudonym for every name. 2: a capture was
  // not read (standard error names it, the others are written all the same), or the flags are
  // wrong; 1: a capture could not be written.
  int Run() override;

 private:
  absl::Status CheckFlags() const;
  // The path to which the capture goes; empty: standard output.
  std::string TargetOf(const std::string& path) const;
  int RedactOne(const std::string& path, const secrets::Redactor& redactor) const;

  std::vector<std::string> captures_;
  std::string output_;
  std::vector<std::string> own_;
  bool modules_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_REDACT_H_
