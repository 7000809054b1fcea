#include "agent/sources/platform/state.h"

#include <algorithm>

#include "agent/sources/platform/limits.h"

namespace rapideye::agent {

void PlatformState::Observe(const PlatformReading& reading, const JobFacts&, absl::Duration now,
                            Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  for (const PlatformEvent& event : reading.events) {
    const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
      return seen.event.kind == event.kind && seen.event.text == event.text;
    });
    if (known != seen_.end()) {
      known->last = now;
    } else if (seen_.size() < kMaxPlatformEvents) {
      seen_.push_back({event, now - event.age.value_or(absl::ZeroDuration()), now});
      notices.warnings.push_back(event.text);
    }
  }
  std::erase_if(seen_, [&](const Seen& seen) { return now - seen.last > kKeepPlatformEvents; });
}

void PlatformState::AddTo(Snapshot& snapshot, Instant now) const {
  for (const Seen& seen : seen_) {
    // A condition holds until it is no longer told; an event is over as soon as it is told.
    const absl::Duration age =
        now.monotonic - (seen.event.age.has_value() ? seen.first : seen.last);
    if (age > kKeepPlatformEvents) continue;
    LogEvent& event = snapshot.log_events.emplace_back();
    event.kind = seen.event.kind;
    event.text = seen.event.text;
    event.source = LogSource::kPlatform;
    event.age_ms = std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - seen.first));
  }
}

}  // namespace rapideye::agent
