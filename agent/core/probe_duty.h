// ProbeDuty makes probes of other workers: only on request of a coordinator, and at a bounded rate.
#ifndef RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_
#define RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// The coordinator chooses the targets, as far as proto/wire lets its message pass: a few
// addresses of other hosts. It does not choose the port or the rate: one request at a
// time, none sooner than kProbeRequestSpacing after the previous one, from any
// coordinator.
class ProbeDuty {
 public:
  // `allowed` false: an operator has switched probes off.
  explicit ProbeDuty(bool allowed) : allowed_(allowed) {}

  // Starts the probes, or answers at once why not.
  void Request(const wire::ProbeRequest& request, absl::Duration now, Effects& effects);
  // The answer to the effect MakeProbes; sent unless the request was cancelled.
  void Made(const ProbesMade& made, Effects& effects);
  void Cancel(const wire::Cancel& cancel);
  // The stream is over: drops its request.
  void Clear() { asked_by_.reset(); }

 private:
  const bool allowed_;
  int64_t last_ = 0;                 // number of the last MakeProbes
  std::optional<int64_t> asked_by_;  // collection that requested the last probes
  // The prober is busy until then, or until the probes are made.
  absl::Duration busy_until_ = -absl::InfiniteDuration();
  absl::Duration next_at_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_PROBE_DUTY_H_
