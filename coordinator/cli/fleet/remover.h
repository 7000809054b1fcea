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
// may watch the same one: what one begins no other begins, and what one leaves behind when
// it dies another finishes.
class RemoverCommand final : public Command {
 public:
  explicit RemoverCommand(CLI::App& app);

  // Until SIGTERM or SIGINT, within 5 s also in the middle of a hook: 0. With --once until
  // nothing is due: 0, or 1 if a hook failed or the history cannot be asked. 2 if the flags
  // are wrong.
  int Run() override;

 private:
  // nullptr if no pages are asked for. `pages` outlives it.
  absl::StatusOr<std::unique_ptr<http::HttpServer>> Serve(
      const coordinator::RemoverPages& pages) const;

  coordinator::RemovalFlags flags_;
  bool once_ = false;
  std::string http_ = "off";
  bool insecure_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_REMOVER_H_
