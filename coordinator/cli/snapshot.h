// rapideye snapshot: collects and classifies now, hang or not.
#ifndef RAPIDEYE_COORDINATOR_CLI_SNAPSHOT_H_
#define RAPIDEYE_COORDINATOR_CLI_SNAPSHOT_H_

#include <string>

#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

class SnapshotCommand final : public Command {
 public:
  explicit SnapshotCommand(CLI::App& app);

  // Returns 0 whatever the verdict; 1 without a verdict. A snapshot is stored nowhere but in
  // --capture; a request that meets an incident gets that incident's digest.
  int Run() override;

 private:
  CoordinatorFlags coordinator_;
  std::string format_ = "text";
  std::string capture_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_SNAPSHOT_H_
