// Connections of the training process to other workers, and those that vanished.
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// A connection belongs to health if two samples in a row showed its peer, and
// the job advanced after each: what comes and goes in health is not missed.
class TcpState {
 public:
  // `last_progress`: of the job, as far as it is known.
  void Observe(std::vector<Socket> sockets, absl::Duration last_progress, absl::Duration now);
  // Another process: it has connections of its own.
  void Clear();

  void Describe(Instant now, Snapshot& snapshot) const;

 private:
  using End = std::pair<WorkerId, std::optional<std::string>>;  // peer and NIC

  std::optional<std::vector<Socket>> sockets_;  // as last seen
  absl::Duration seen_at_;
  std::set<End> healthy_before_;
  std::set<End> in_health_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_
