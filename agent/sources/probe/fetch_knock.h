// Knock is one probe under way: its sockets and their results.
#ifndef RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_KNOCK_H_
#define RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_KNOCK_H_

#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/sources/probe/judge.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Each try is a SYN on a socket of its own, so that no probe waits for the kernel to send a
// SYN again, and two datagrams, a small one and one of full size that may not be fragmented.
// All go to one port, through the given NIC. No call blocks. Times are of the caller's
// monotonic clock.
class Knock {
 public:
  Knock(const wire::ProbeTarget& target, uint16_t port) : target_(target), port_(port) {}
  ~Knock();
  Knock(const Knock&) = delete;
  Knock& operator=(const Knock&) = delete;

  // Sends again what has not been answered. Returns a failure of this host alone (no
  // descriptors, no such NIC), which says nothing about the way to the peer.
  absl::Status Try(absl::Duration now);
  // Appends the descriptors that this probe waits for.
  void AwaitedBy(std::vector<pollfd>& waiting) const;
  // Reads what has come on this descriptor; ignores that of another probe.
  void Hear(int descriptor, absl::Duration now);
  // No further answer is worth waiting for: all have come, or the peer is there and its host
  // answers no datagrams.
  bool Settled(absl::Duration now) const;

  const wire::ProbeTarget& target() const { return target_; }
  const ProbeEchoes& echoes() const { return echoes_; }

 private:
  struct Syn {
    int socket = -1;
    absl::Duration sent;
  };

  absl::Status SendSyn(absl::Duration now);
  absl::Status SendDatagrams();
  absl::StatusOr<int> Open(int type) const;
  absl::Status BindToNic(int socket) const;
  void EndSyn(Syn& syn, int error, absl::Duration now);
  void HearDatagram(int descriptor, int error);

  const wire::ProbeTarget target_;
  const uint16_t port_;
  ProbeEchoes echoes_;
  absl::Duration begun_ = absl::InfiniteDuration();
  std::vector<Syn> syns_;
  int small_ = -1;
  int full_ = -1;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROBE_FETCH_KNOCK_H_
