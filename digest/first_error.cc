#include "digest/first_error.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "digest/tpu_states.h"

namespace rapideye::digest {
namespace {

constexpr int64_t kFirstMs = -62'167'219'200'000;  // 0000-01-01T00:00:00Z
constexpr int64_t kLastMs = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z
constexpr int64_t kUncertainMs = 1000;             // less is not worth a reader's time
constexpr int32_t kSigterm = 15;
constexpr int32_t kSigtermExitCode = 128 + kSigterm;  // as a shell reports it

// Lines that tell of trouble with the job, not of noise or of start-up.
bool IsTrouble(LogKind kind) {
  return kind != LogKind::kUnspecified && kind != LogKind::kBenign &&
         kind != LogKind::kUnknownFlag && kind != LogKind::kRuntimeVerdict &&
         kind != LogKind::kDeviceSlow;
}

bool WasToldToStop(const Process& process) {
  return process.signal == kSigterm || process.exit_code == kSigtermExitCode;
}

void Widen(std::optional<int64_t>& largest, std::optional<int64_t> age) {
  if (age) largest = std::max(largest.value_or(*age), *age);
}

std::optional<int64_t> FrozenMs(const Core& core) {
  const Sequencer* sequencer = MainSequencer(core);
  return sequencer ? sequencer->frozen_ms : std::nullopt;
}

// The largest age that the core's standing may have: the polls tell between which two it stopped.
std::optional<int64_t> LongestFrozenMs(const Core& core) {
  const std::optional<int64_t> frozen = FrozenMs(core);
  if (!frozen || core.transitions.empty()) return frozen;
  const Transition& last = core.transitions.back();
  const int64_t within = last.within_ms.value_or(0);
  // Hostile ages must not overflow.
  if (last.age_ms != *frozen || *frozen > kLastMs || within > kLastMs) return frozen;
  return *frozen + within;
}

// Ages of the first sign of trouble at culprits: as they are read, and as they may be.
struct Ages {
  std::optional<int64_t> read;
  std::optional<int64_t> longest;
};

void AddAges(const Snapshot& snapshot, const Culprit& culprit, Ages& ages) {
  const auto widen = [&ages](std::optional<int64_t> age) {
    Widen(ages.read, age);
    Widen(ages.longest, age);
  };
  for (const Core& core : snapshot.cores) {
    if (!Means(culprit, core)) continue;
    Widen(ages.read, FrozenMs(core));
    Widen(ages.longest, LongestFrozenMs(core));
  }
  for (const LogEvent& event : snapshot.log_events) {
    const bool other_chip = culprit.chip && event.chip && *culprit.chip != *event.chip;
    if (IsTrouble(event.kind) && !other_chip) widen(event.age_ms);
  }
  for (const Process& process : snapshot.processes) widen(process.exited_ms_ago);
}

using Accused = std::map<WorkerId, std::vector<const Culprit*>>;

Ages CulpritsAges(const Capture& capture, const Accused& accused) {
  Ages ages;
  for (const Snapshot& snapshot : capture.snapshots) {
    auto it = accused.find(snapshot.worker);
    if (it == accused.end()) continue;
    for (const Culprit* culprit : it->second) AddAges(snapshot, *culprit, ages);
  }
  return ages;
}

// Whether processes were told to stop before anything else went wrong.
bool Cancelled(const Capture& capture, Detail detail, const Accused& accused) {
  if (detail == Detail::kPreempted) return true;
  std::optional<int64_t> told;
  std::optional<int64_t> other;
  for (const Snapshot& snapshot : capture.snapshots) {
    for (const LogEvent& event : snapshot.log_events) {
      if (event.kind == LogKind::kPreempted) {
        Widen(told, event.age_ms);
      } else if (IsTrouble(event.kind)) {
        Widen(other, event.age_ms);
      }
    }
    for (const Process& process : snapshot.processes) {
      Widen(WasToldToStop(process) ? told : other, process.exited_ms_ago);
    }
    auto it = accused.find(snapshot.worker);
    if (it == accused.end()) continue;
    for (const Culprit* culprit : it->second) {
      for (const Core& core : snapshot.cores) {
        if (Means(*culprit, core)) Widen(other, FrozenMs(core));
      }
    }
  }
  return told && (!other || *told > *other);
}

}  // namespace

std::optional<std::string> FormatUtc(int64_t unix_ms) {
  if (unix_ms < kFirstMs || unix_ms > kLastMs) return std::nullopt;
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

FirstError FindFirstError(const Capture& capture, const Verdict& verdict) {
  Accused accused;
  for (const Culprit& culprit : verdict.culprits) accused[culprit.worker].push_back(&culprit);

  FirstError first;
  if (Cancelled(capture, verdict.detail, accused)) {
    first.type = FirstErrorType::kCancelled;
  } else if (verdict.cause == Cause::kUnrecoverableError) {
    first.type = FirstErrorType::kUnrecoverableError;
  }
  if (const auto& detected = capture.header.detected_unix_ms) {
    const Ages ages = CulpritsAges(capture, accused);
    const int64_t age = std::max<int64_t>(0, ages.read.value_or(0));
    const int64_t longest = std::max(age, ages.longest.value_or(0));
    // Both ends are bounded first: a hostile age must not overflow.
    if (*detected >= kFirstMs && *detected <= kLastMs && age <= kLastMs) {
      first.at = FormatUtc(*detected - age);
      if (longest - age > kUncertainMs) first.uncertainty_ms = longest - age;
    }
  }
  return first;
}

}  // namespace rapideye::digest
