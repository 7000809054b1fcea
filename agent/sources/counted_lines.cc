#include "agent/sources/counted_lines.h"

#include <algorithm>
#include <utility>

namespace rapideye::agent {

bool CountedLines::Count(const logs::LogLine& line, absl::Duration now) {
  const auto same = std::find_if(lines_.begin(), lines_.end(),
                                 [&line](const Line& kept) { return kept.key == line.key; });
  if (same == lines_.end()) return false;
  same->count += 1 + line.repeats;
  same->last = now;
  return true;
}

void CountedLines::Add(const logs::LogLine& line, bool before, absl::Duration now) {
  lines_.push_back(
      {line.event, line.key, 1 + line.repeats, before ? std::nullopt : std::optional(now), now});
}

void CountedLines::AddTo(Snapshot& snapshot, Instant now, absl::Duration keep_for) const {
  for (const Line& line : lines_) {
    if (now.monotonic - line.last > keep_for) continue;
    LogEvent event = line.event;
    event.count = line.count;
    if (line.first.has_value()) {
      event.age_ms = std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - *line.first));
    }
    snapshot.log_events.push_back(std::move(event));
  }
}

}  // namespace rapideye::agent
