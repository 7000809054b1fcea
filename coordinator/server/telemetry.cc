#include "coordinator/server/telemetry.h"

namespace rapideye::coordinator {

void Telemetry::CountClose(absl::StatusCode code) {
  const MutexLock lock(mutex_);
  ++closes_[code];
}

std::map<absl::StatusCode, int64_t> Telemetry::Closes() const {
  const MutexLock lock(mutex_);
  return closes_;
}

void Telemetry::CountVerdict(Cause cause, absl::Duration took) {
  classifications_.Observe(took);
  const MutexLock lock(mutex_);
  ++verdicts_[cause];
}

std::map<Cause, int64_t> Telemetry::Verdicts() const {
  const MutexLock lock(mutex_);
  return verdicts_;
}

absl::Duration Telemetry::SinceTurn(absl::Duration now) const {
  const int64_t turn = last_turn_ns_;
  return turn == INT64_MIN ? absl::InfiniteDuration() : now - absl::Nanoseconds(turn);
}

}  // namespace rapideye::coordinator
