// rapideye status: prints the state of the job.
#ifndef RAPIDEYE_COORDINATOR_CLI_STATUS_H_
#define RAPIDEYE_COORDINATOR_CLI_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

class StatusCommand final : public Command {
 public:
  explicit StatusCommand(CLI::App& app);

  // 0; 1 if the coordinator does not answer, or with --fail-on-hang if the job hangs. With --watch:
  // until SIGTERM or SIGINT (0), or --count statuses; a coordinator that does not answer meanwhile
  // is complained about and asked again.
  int Run() override;

 private:
  // Writes one status to standard output; false if that cannot be written.
  bool Show(const v1::GetStatusReply& status) const;
  int Watch(CoordinatorClient& client) const;

  CoordinatorFlags coordinator_;
  std::string format_ = "text";
  bool watch_ = false;
  bool fail_on_hang_ = false;
  std::optional<int64_t> count_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_STATUS_H_
