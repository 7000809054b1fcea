#include "agent/sources/log/state.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "agent/sources/log/limits.h"
#include "classifier/errors/error_kind.h"
#include "classifier/host/watchdog.h"

namespace rapideye::agent {
namespace {

// True for kinds that only name a peer, or report an effect of another event.
bool IsWeak(LogKind kind) {
  switch (kind) {
    case LogKind::kFollowOn:
    case LogKind::kMissedHealthChecks:
    case LogKind::kRestartedPeer:
    case LogKind::kCoordinationTimeout:
    case LogKind::kCollectiveStuck:
    case LogKind::kNetwork:
    case LogKind::kHungTask:
    case LogKind::kInputWait:
    case LogKind::kDeviceSlow:
    case LogKind::kUnknownFlag:
      return true;
    default:
      return false;
  }
}

// An exception that ended a collective because a peer's process had gone: a run that is over has
// no collective under way. So the end of a process with status 0 amid the run is told at once,
// by the others.
bool LostPeerInCollective(const LogEvent& event) {
  if (event.kind != LogKind::kFollowOn) return false;
  const bool exception = absl::StrContains(event.text, "RuntimeError: ");
  return exception && (absl::StrContains(event.text, "onnection closed by peer") ||
                       absl::StrContains(event.text, "onnection reset by peer"));
}

// Events that the coordinator must get before the next heartbeat.
std::optional<wire::AlarmKind> AlarmOf(const LogEvent& event) {
  if (LostPeerInCollective(event)) return wire::AlarmKind::kProcessExit;
  switch (event.kind) {
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

// The start-up of this process has ended by a time-out: some worker has not come.
bool EndsStartUp(const LogEvent& event) {
  if (event.kind != LogKind::kCoordinationTimeout) return false;
  return absl::StrContains(event.text, "RegisterTask") ||
         absl::StrContains(event.text, "egister with the leader") ||
         absl::StrContains(event.text, "cluster registration failed") ||
         absl::StrContains(event.text, "Id: [Init]");
}

}  // namespace

void LogState::Observe(const logs::LogReading& reading, const JobFacts& job, absl::Duration now,
                       Notices& notices) {
  notices.warnings = reading.notes;
  if (reading.steps.has_value()) KeepSteps(*reading.steps, now);
  if (!reading.stacks.empty()) stacks_ = reading.stacks;
  for (const logs::LogLine& line : reading.lines) {
    Keep(line, now);
    const std::optional<wire::AlarmKind> alarm = AlarmOf(line.event);
    if (!line.old && classifier::AbortsItsProcess(line.event)) {
      says_it_ends_ = true;
      // Where no process is seen, nothing else tells of its end.
      if (!process_lives_) {
        notices.alarms.push_back({wire::AlarmKind::kProcessExit, line.event.text});
      }
    }
    if (!line.old && classifier::IsOfWatchdog(line.event)) watchdog_at_ = now;
    if (alarm.has_value() && !line.old) notices.alarms.push_back({*alarm, line.event.text});
    const bool starting = !job.ever_launched && !advanced_at_.has_value();
    if (starting && !line.old && EndsStartUp(line.event)) {
      notices.alarms.push_back({wire::AlarmKind::kProcessExit, line.event.text});
    }
  }
}

void LogState::Keep(const logs::LogLine& line, absl::Duration now) {
  if (line.hang_report.has_value()) hang_report_ = line.hang_report;
  if (lines_.Count(line, now)) return;
  if (lines_.lines().size() == kMaxLogEvents && !MakeRoom(line.event.kind, now)) return;
  lines_.Add(line, line.old, now);
}

void LogState::KeepSteps(const logs::StepReading& reading, absl::Duration now) {
  const int64_t advances = reading.advances - steps_.advances;
  steps_ = reading;
  if (advances <= 0) return;
  if (advanced_at_.has_value() && std::exchange(healthy_since_advance_, true)) {
    longest_ = std::max(longest_.value_or(absl::ZeroDuration()), now - *advanced_at_);
  }
  advanced_at_ = now;
  advances_ += advances;
  stacks_.clear();
}

void LogState::Watching(const std::optional<ProcessId>& process) {
  process_lives_ = process.has_value();
}

std::optional<wire::StepLines> LogState::Steps(absl::Duration now) const {
  if (!process_lives_ || !steps_.step.has_value() || !advanced_at_.has_value()) {
    return std::nullopt;
  }
  return wire::StepLines{.step = *steps_.step,
                         .advances = advances_,
                         .since_advance = std::max(now - *advanced_at_, absl::ZeroDuration()),
                         .longest = longest_};
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
  stacks_.clear();
  std::erase_if(lines_.lines(), [](const CountedLines::Line& line) {
    return line.event.kind == LogKind::kHangDetected;
  });
}

void LogState::ProcessReplaced(std::optional<absl::Duration> before_until) {
  if (!before_until.has_value()) return;
  says_it_ends_ = false;
  watchdog_at_.reset();
  stacks_.clear();
  advanced_at_.reset();
  advances_ = 0;
  longest_.reset();
  const absl::Duration last = *before_until + kFinalLinesDelay;
  const size_t forgotten = std::erase_if(
      lines_.lines(), [last](const CountedLines::Line& line) { return line.last <= last; });
  if (forgotten > 0) hang_report_.reset();
}

void LogState::AddTo(Snapshot& snapshot, Instant now) const {
  snapshot.hang_report = hang_report_;
  lines_.AddTo(snapshot, now, kKeepLogEventsFor);
  if (!process_lives_) snapshot.stacks = stacks_;
  if (!steps_.step.has_value() || !advanced_at_.has_value()) return;
  if (!snapshot.progress.has_value()) snapshot.progress.emplace();
  if (snapshot.progress->step.has_value()) return;
  snapshot.progress->step = steps_.step;
  snapshot.progress->step_ms =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(now.monotonic - *advanced_at_));
  if (longest_.has_value()) {
    snapshot.progress->longest_step_ms = absl::ToInt64Milliseconds(*longest_);
  }
}

}  // namespace rapideye::agent
