// rapideye show: prints one incident.
#ifndef RAPIDEYE_COORDINATOR_CLI_SHOW_H_
#define RAPIDEYE_COORDINATOR_CLI_SHOW_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

// The incident that `given` means: a whole id, the beginning of one, or "latest". NOT_FOUND or
// INVALID_ARGUMENT names similar ids.
absl::StatusOr<std::string> IncidentNamed(CoordinatorClient& client, const std::string& given);

class ShowCommand final : public Command {
 public:
  explicit ShowCommand(CLI::App& app);

  // 0; 2 if ID may be several incidents, 1 if there is no such incident or it cannot be
  // fetched. The document goes to standard output as it is.
  int Run() override;

 private:
  // The text after NOT_FOUND: the ids that look most like it.
  static std::string Suggestion(CoordinatorClient& client, const std::string& id);
  // Prints later events of the incident, after its digest, on standard error.
  static void TellState(CoordinatorClient& client, const std::string& id);

  CoordinatorFlags coordinator_;
  std::string id_;
  std::string format_ = "text";
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_SHOW_H_
