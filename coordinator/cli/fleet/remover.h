// rapideye remover: carries out removals for a whole fleet.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_REMOVER_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_REMOVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/cli/command.h"
#include "coordinator/removal/removal_flags.h"
#include "coordinator/removal/remover_pages.h"
#include "proto/common/http/http_server.h"

namespace rapideye::cli {

// Watches a history that coordinators write to, applies the policy, runs the hooks. Several
// removers may watch the same history: no two begin the same hook, and if a remover dies, another
// finishes its work.
class RemoverCommand final : public Command {
 public:
  explicit RemoverCommand(CLI::App& app);

  // 0 after SIGTERM or SIGINT, which end it within 5 s, also in the middle of a hook. With --once
  // it ends when nothing is due: 0, or 1 if a hook failed or the history cannot be asked. 2 if the
  // flags are wrong.
  int Run() override;

 private:
  // nullptr if no pages are asked for. `pages` outlives the server.
  absl::StatusOr<std::unique_ptr<http::HttpServer>> Serve(
      const coordinator::RemoverPages& pages) const;

  coordinator::RemovalFlags flags_;
  bool once_ = false;
  std::string http_ = "off";
  bool insecure_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_REMOVER_H_
