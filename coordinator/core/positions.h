// Compares the positions of cores in two rounds, chooses the workers to ask for HLO, and adds their
// answers.
#ifndef RAPIDEYE_COORDINATOR_CORE_POSITIONS_H_
#define RAPIDEYE_COORDINATOR_CORE_POSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// The launches of one round, to find whether one has completed by the next round.
class LaunchesOfRound {
 public:
  explicit LaunchesOfRound(const Snapshot& snapshot);

  // True if `later`, a snapshot of the same worker, shows that a launch which was
  // in flight in this round has completed. A pc that moved does not show it; nor does
  // a launch that began; nor a runtime that no longer answers; nor a report from
  // another process.
  bool CompletedBy(const Snapshot& later) const;

  // True if `later` shows another training process than this round. A process that has
  // only just begun is told by its pid, before its runtime answers.
  bool ReplacedBy(const Snapshot& later) const;

 private:
  using CoreKey = std::tuple<std::optional<int32_t>, std::optional<int32_t>, CoreType, int32_t>;
  struct InFlight {
    std::string fingerprint;
    std::optional<int32_t> launch_id;
    std::optional<int64_t> stuck_ms;
  };
  std::optional<std::string> incarnation_;
  std::set<int64_t> pids_;
  std::map<CoreKey, InFlight> in_flight_;
};

// Workers to ask for the HLO of their runtime: one per distinct position (core
// and sequencer type, program, launch, tag and pc), the rarest positions first,
// at most `limit`. Idle sequencers have no position; positions whose HLO is
// known already need no request; a runtime that does not answer is not asked.
std::vector<WorkerId> ChooseForHlo(const std::map<WorkerId, Snapshot>& snapshots, size_t limit);

// Adds to `snapshot` the HLO that the same worker's runtime gave, wherever its
// sequencers still stand at the same place, and the groups of the collectives that it names.
void MergeHlo(const Snapshot& answer, Snapshot& snapshot);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_POSITIONS_H_
