// rapideye incidents: lists the incidents in the coordinator's state directory.
#ifndef RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_
#define RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/cli/command.h"
#include "coordinator/cli/coordinator_client.h"

namespace rapideye::cli {

class IncidentsCommand final : public Command {
 public:
  explicit IncidentsCommand(CLI::App& app);

  // 0, also if there are no incidents; 1 if the coordinator cannot tell.
  int Run() override;

 private:
  // The moment that --since means; INVALID_ARGUMENT if it means none.
  absl::StatusOr<absl::Time> Since() const;
  // True if the filters of the flags let the incident pass.
  bool Wanted(const v1::IncidentSummary& incident, absl::Time since) const;
  // For a list that the filters leave empty: the cause or host that no incident has, and similar
  // names; otherwise "".
  std::string Mistyped(const v1::ListIncidentsReply& reply) const;

  CoordinatorFlags coordinator_;
  std::string format_ = "text";
  int32_t limit_ = 20;
  std::string cause_;
  std::string host_;
  std::string since_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_INCIDENTS_H_
