#include "agent/sources/log/state.h"

#include <algorithm>
#include <vector>

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
  if (lines_.Count(line, now)) return;
  if (lines_.lines().size() == kMaxLogEvents && !MakeRoom(line.event.kind, now)) return;
  lines_.Add(line, line.old, now);
}

bool LogState::MakeRoom(LogKind kind, absl::Duration now) {
  std::vector<CountedLines::Line>& lines = lines_.lines();
  if (std::erase_if(lines, [now](const CountedLines::Line& line) {
        return now - line.last > kKeepLogEventsFor;
      }) > 0) {
    return true;
  }
  if (IsWeak(kind)) return false;
  const auto weak = std::find_if(lines.rbegin(), lines.rend(), [](const CountedLines::Line& line) {
    return IsWeak(line.event.kind);
  });
  if (weak == lines.rend()) return false;
  lines.erase(std::next(weak).base());
  return true;
}

void LogState::Progressed() {
  hang_report_.reset();
  std::erase_if(lines_.lines(), [](const CountedLines::Line& line) {
    return line.event.kind == LogKind::kHangDetected;
  });
}

void LogState::ForgetBefore(absl::Duration time) {
  const size_t forgotten = std::erase_if(
      lines_.lines(), [time](const CountedLines::Line& line) { return line.last <= time; });
  if (forgotten > 0) hang_report_.reset();
}

void LogState::Describe(Instant now, Snapshot& snapshot) const {
  snapshot.hang_report = hang_report_;
  lines_.AddTo(snapshot, now, kKeepLogEventsFor);
}

}  // namespace rapideye::agent
