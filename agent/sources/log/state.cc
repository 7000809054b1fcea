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

// What the coordinator must know before the next heartbeat.
std::optional<wire::AlarmKind> AlarmOf(LogKind kind) {
  switch (kind) {
    case LogKind::kHangDetected:
      return wire::AlarmKind::kHangLine;
    case LogKind::kHaltHardware:
    case LogKind::kHaltNetwork:
    case LogKind::kHaltPower:
    case LogKind::kHaltUser:
    case LogKind::kHaltAssertion:
    case LogKind::kLaunchGroupMismatch:
    case LogKind::kCoreHalt:
    case LogKind::kChipDriverError:
    case LogKind::kFatalProgramError:
      return wire::AlarmKind::kCoreHalt;
    case LogKind::kUncaughtException:
    case LogKind::kCollectiveMismatch:
      return wire::AlarmKind::kProcessExit;
    default:
      return std::nullopt;
  }
}

}  // namespace

void LogState::Observe(const logs::LogReading& reading, const JobFacts&, absl::Duration now,
                       Notices& notices) {
  notices.warnings = reading.notes;
  for (const logs::LogLine& line : reading.lines) {
    Keep(line, now);
    const std::optional<wire::AlarmKind> alarm = AlarmOf(line.event.kind);
    if (alarm.has_value() && !line.old) notices.alarms.push_back({*alarm, line.event.text});
  }
}

void LogState::Keep(const logs::LogLine& line, absl::Duration now) {
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

void LogState::JobProgressed() {
  hang_report_.reset();
  std::erase_if(lines_.lines(), [](const CountedLines::Line& line) {
    return line.event.kind == LogKind::kHangDetected;
  });
}

void LogState::ProcessReplaced(std::optional<absl::Duration> before_until) {
  if (!before_until.has_value()) return;
  const absl::Duration last = *before_until + kLastWordsDelay;
  const size_t forgotten = std::erase_if(
      lines_.lines(), [last](const CountedLines::Line& line) { return line.last <= last; });
  if (forgotten > 0) hang_report_.reset();
}

void LogState::AddTo(Snapshot& snapshot, Instant now) const {
  snapshot.hang_report = hang_report_;
  lines_.AddTo(snapshot, now, kKeepLogEventsFor);
}

}  // namespace rapideye::agent
