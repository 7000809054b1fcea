// Judges the facts of a host, of its agent and of the coordinator. Pure.
#ifndef RAPIDEYE_COORDINATOR_CLI_DOCTOR_JUDGE_H_
#define RAPIDEYE_COORDINATOR_CLI_DOCTOR_JUDGE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/cli/doctor/check.h"
#include "coordinator/cli/doctor/host_facts.h"
#include "v1/operator.pb.h"

namespace rapideye::cli {

// `workers`: of the job; absent: not known. A coordinator needs descriptors for each.
Checks JudgeHost(const HostFacts& facts, std::optional<int> workers);
Checks JudgeDirectory(const DirectoryFacts& facts);
Checks JudgePeer(const PeerFacts& facts);

// The output of `rapideye-agent --once --log-format=json`.
struct AgentAnswer {
  std::string program = {};   // its path; empty: none was found
  std::string failure = {};   // why it gave no snapshot; empty: it did
  std::string snapshot = {};  // JSON
  std::string log = {};       // a JSON record a line
};
Checks JudgeAgent(const AgentAnswer& answer);

// The worker that the agent's snapshot is of.
struct OwnWorker {
  int slice = 0;
  int task = 0;
};
std::optional<OwnWorker> WorkerOf(const AgentAnswer& answer);

// `expected`: the number of the job's workers by the environment; absent: not stated there.
Checks JudgeCoordinator(const absl::StatusOr<v1::GetStatusReply>& status,
                        const std::optional<OwnWorker>& own, std::optional<int> expected);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DOCTOR_JUDGE_H_
