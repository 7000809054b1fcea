// The probes of one incident: who was asked for which, and what came of them.
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
  // INVALID_ARGUMENT: this worker was asked for no probes, has answered already, or tells
  // of one that it was not asked for.
  absl::Status OnReply(const WorkerId& worker, const wire::ProbeReply& reply);

  // Nobody is waited for any more.
  bool Done(absl::Duration now) const { return waiting_.empty() || now >= until_; }
  // When it is done at the latest; infinite if it is.
  absl::Duration until() const { return waiting_.empty() ? absl::InfiniteDuration() : until_; }

  // Puts what the probes have shown into the snapshots of those who made them, and says
  // so in the log. Where not even workers that nobody suspects reach each other by a
  // NIC, and nobody else reaches anybody by it, probes do not get through it at all (a
  // firewall, say): they prove nothing and are left out.
  void Settle(std::map<WorkerId, Snapshot>& snapshots, Effects& effects) const;
  // Whoever has not answered is told not to.
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
