// Judges a probe by the answers that came back.
#ifndef RAPIDEYE_AGENT_SOURCES_PROBE_JUDGE_H_
#define RAPIDEYE_AGENT_SOURCES_PROBE_JUDGE_H_

#include <optional>

#include "absl/time/time.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// The answers to a probe by the end of its time.
struct ProbeEchoes {
  // Time of the answer to the first SYN that got one, an acceptance or a refusal.
  std::optional<absl::Duration> answer;
  // Why the kernel gave a SYN up, as errno; 0: none was given up, no answer came.
  int error = 0;
  // True if the peer's host answered a small datagram, and a datagram as large as the way
  // takes packets.
  bool small_answered = false;
  bool full_answered = false;
  int full_bytes = 0;  // size of the latter, with all headers; 0: none could be sent
};

// A peer that answers is reached. But if its host answers small datagrams and none of
// full size, it is not reached: large packets vanish on the way. A way on which datagrams are
// not answered at all says nothing about their size.
Probe JudgeProbe(const wire::ProbeTarget& target, const ProbeEchoes& echoes);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROBE_JUDGE_H_
