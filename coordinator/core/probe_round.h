// ProbeRound requests the probes of one incident and collects their results.
#ifndef RAPIDEYE_COORDINATOR_CORE_PROBE_ROUND_H_
#define RAPIDEYE_COORDINATOR_CORE_PROBE_ROUND_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/probe_plan.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

class ProbeRound {
 public:
  // Appends one request for each prober that is connected. At most once.
  void Begin(int64_t collection, std::vector<PlannedProbe> plan,
             const std::map<WorkerId, StreamId>& connected, absl::Duration deadline,
             absl::Duration now, Effects& effects);

  // A worker's stream is gone.
  void Leave(const WorkerId& worker) { waiting_.erase(worker); }
  // INVALID_ARGUMENT: this worker was asked for no probes, has answered already, or
  // reports a probe that it was not asked for.
  absl::Status OnReply(const WorkerId& worker, const wire::ProbeReply& reply);

  // True once every answer has come, or the time for answers is over.
  bool Done(absl::Duration now) const { return waiting_.empty() || now >= until_; }
  // The latest time at which it is done; the infinite past if it is done.
  absl::Duration until() const { return waiting_.empty() ? -absl::InfiniteDuration() : until_; }

  // Adds the results of the probes to the snapshots of the workers that made them, and
  // logs them. If not even unsuspected workers reach each other by a NIC, and no other
  // pair does either, probes do not pass it at all (because of a firewall, say): its
  // results prove nothing and are left out.
  void Settle(std::map<WorkerId, Snapshot>& snapshots, Effects& effects) const;
  // Cancels outstanding probe requests.
  void Cancel(Effects& effects) const;

  // Probes asked for.
  size_t asked() const { return asked_; }

 private:
  struct Prober {
    StreamId stream = 0;
    std::vector<PlannedProbe> planned;
    std::optional<wire::ProbeReply> reply;
  };
  using Nic = std::optional<std::string>;

  // NICs by which nothing gets through.
  std::set<Nic> BlindNics() const;

  int64_t collection_ = 0;
  size_t asked_ = 0;
  absl::Duration until_;
  std::map<WorkerId, Prober> probers_;
  std::set<WorkerId> waiting_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_PROBE_ROUND_H_
