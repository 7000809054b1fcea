// Tracks the training process's connections to other workers, and those that vanished.
#ifndef RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/address/address.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// A connection to an unknown worker: its peer is not set.
struct StrangerSocket {
  IpAddress address;  // of the other end
  Socket socket;
};

struct SocketReading {
  std::vector<Socket> sockets;  // to other workers
  std::vector<StrangerSocket> strangers;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
  // Sent and received by all connections of the process since the agent first looked;
  // absent: not known.
  std::optional<int64_t> bytes_moved = std::nullopt;
};

// A connection belongs to health if two samples in a row showed its peer, and
// the job advanced after each: what comes and goes in health is not missed.
class TcpState final : public StateOf<SocketReading> {
 public:
  void Observe(const SocketReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Another process has connections of its own.
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  void Watching(const std::optional<ProcessId>& process) override;
  // When a process ends its connections end, which says nothing of the links. Without a process
  // only those are evidence that it tried to open until it ended: packets were dropped, since a
  // host that is reached answers at once, be it by a refusal.
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  using End = std::pair<WorkerId, std::optional<std::string>>;  // peer and NIC

  void NoteOpening(absl::Duration now);

  UnavailableWarning unavailable_{"nothing is known of connections to other workers"};
  bool process_lives_ = false;
  std::optional<std::vector<Socket>> sockets_;  // as last seen
  absl::Duration seen_at_;
  std::vector<Socket> opening_;  // of the process, also once it has ended
  absl::Duration opening_seen_at_;
  std::set<End> healthy_before_;
  std::set<End> in_health_;
};

struct TcpSource : SourceOf<TcpState, SocketReading> {
  static constexpr char kName[] = "tcp";
  static std::unique_ptr<Fetcher<SocketReading>> MakeFetcher(const HostOptions& options,
                                                             HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_TCP_STATE_H_
