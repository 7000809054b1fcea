// Link manages the agent's side of the stream to its coordinator: it decides when to connect, and
// whether the agent may send.
#ifndef RAPIDEYE_AGENT_CORE_LINK_H_
#define RAPIDEYE_AGENT_CORE_LINK_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "proto/common/backoff/backoff.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

class Link {
 public:
  // `enabled` is false for an agent without a coordinator.
  Link(bool enabled, uint64_t seed);

  // Connects when it is time to, and sends Hello; gives up on a coordinator that sends no
  // Welcome.
  void Advance(absl::Duration now, const wire::Hello& hello, Effects& effects);
  // False: the message must be ignored (another stream, or not yet welcome).
  bool Accepts(const MessageReceived& received) const;
  void Welcomed(absl::Duration now, Effects& effects);
  // True if this ended the present stream.
  bool Closed(const StreamClosed& closed, absl::Duration now, Effects& effects);
  // An alarm about the end of the process waits for the coordinator: connects soon, however long
  // earlier attempts have failed. A coordinator that has refused this agent is left in peace.
  void Hurry(absl::Duration now);
  // Ends the stream, so that the agent says Hello again.
  void Renew(absl::Duration now, Effects& effects);
  // Ends the stream for good.
  void ShutDown(Effects& effects);

  // True between Welcome and the end of the stream.
  bool up() const { return state_ == State::kUp; }
  // The last stream ended in a refusal that does not go away by trying again soon.
  bool refused() const { return refused_; }
  // The time at which Advance has work; infinite: never.
  absl::Duration NextWake() const;

 private:
  enum class State { kDisabled, kDown, kGreeting, kUp };

  void GoDown(absl::Duration now, const absl::Status& why, Effects& effects);

  State state_;
  JitteredBackoff backoff_;
  int64_t stream_ = 0;
  // kDown: when to connect. kGreeting: when to give up. kUp: since when.
  absl::Duration at_ = -absl::InfiniteDuration();
  bool refused_ = false;
  std::optional<absl::StatusCode> logged_;  // why there is no coordinator, as last logged
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_LINK_H_
