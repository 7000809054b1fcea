// Probes of other workers: only what a coordinator asks for, and never much of it.
#ifndef RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_
#define RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// The coordinator is believed in whom to probe, as far as proto/wire lets its message
// pass: addresses of other hosts, and few. Where to knock and how often is not its
// decision: one request at a time, none sooner than kProbeRequestSpacing after the one
// before, whoever asks.
class ProbeDuty {
 public:
  // `allowed` false: an operator has switched probes off.
  explicit ProbeDuty(bool allowed) : allowed_(allowed) {}

  // Begins, or answers at once why not.
  void Request(const wire::ProbeRequest& request, absl::Duration now, Effects& effects);
  // The answer to the effect MakeProbes; sent if anybody still wants it.
  void Made(const ProbesMade& made, Effects& effects);
  void Cancel(const wire::Cancel& cancel);
  // The stream is over, and with it who asked.
  void Clear() { asked_by_.reset(); }

 private:
  const bool allowed_;
  int64_t last_ = 0;                 // request made
  std::optional<int64_t> asked_by_;  // collection that the last one is for
  // Whoever makes them is busy until then, or until they are made.
  absl::Duration busy_until_ = -absl::InfiniteDuration();
  absl::Duration next_at_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_
