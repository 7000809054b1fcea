#include "agent/sources/log/state.h"

#include <algorithm>

#include "agent/sources/log/limits.h"

namespace rapideye::agent {
namespace {

// Names a peer, or says what something else brought about.
bool IsWeak(LogKind kind) {
  return kind == LogKind::kFollowOn || kind == LogKind::kMissedHealthChecks ||
         kind == LogKind::kCoordinationTimeout || kind == LogKind::kUnknownFlag;
}

}  // namespace

void LogState::Observe(const logs::LogLine& line, absl::Duration now) {
  if (line.hang_report.has_value()) hang_report_ = line.hang_report;
  const auto same = std::find_if(kept_.begin(), kept_.end(),
                                 [&line](const Kept& kept) { return kept.key == line.key; });
  if (same != kept_.end()) {
    same->count += 1 + line.repeats;
    same->last = now;
    return;
  }
  if (kept_.size() == kMaxLogEvents && !MakeRoom(line.event.kind, now)) return;
  kept_.push_back({line.event, line.key, line.old, 1 + line.repeats, now, now});
}

bool LogState::MakeRoom(LogKind kind, absl::Duration now) {
  if (std::erase_if(kept_,
                    [now](const Kept& kept) { return now - kept.last > kKeepLogEventsFor; }) > 0) {
    return true;
  }
  if (IsWeak(kind)) return false;
  const auto weak = std::find_if(kept_.rbegin(), kept_.rend(),
                                 [](const Kept& kept) { return IsWeak(kept.event.kind); });
  if (weak == kept_.rend()) return false;
  kept_.erase(std::next(weak).base());
  return true;
}

void LogState::Progressed() {
  hang_report_.reset();
  std::erase_if(kept_, [](const Kept& kept) { return kept.event.kind == LogKind::kHangDetected; });
}

void LogState::ForgetBefore(absl::Duration time) {
  const size_t before = kept_.size();
  std::erase_if(kept_, [time](const Kept& kept) { return kept.last <= time; });
  if (kept_.size() != before) hang_report_.reset();
}

void LogState::Describe(Instant now, Snapshot& snapshot) const {
  snapshot.hang_report = hang_report_;
  for (const Kept& kept : kept_) {
    if (now.monotonic - kept.last > kKeepLogEventsFor) continue;
    LogEvent event = kept.event;
    event.count = kept.count;
    if (!kept.old) {
      event.age_ms = std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - kept.first));
    }
    snapshot.log_events.push_back(std::move(event));
  }
}

}  // namespace rapideye::agent
