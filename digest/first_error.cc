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

// Age of the first sign of trouble at one culprit.
std::optional<int64_t> LargestAge(const Snapshot& snapshot, const Culprit& culprit) {
  std::optional<int64_t> largest;
  for (const Core& core : snapshot.cores) {
    if (Means(culprit, core)) Widen(largest, FrozenMs(core));
  }
  for (const LogEvent& event : snapshot.log_events) {
    const bool other_chip = culprit.chip && event.chip && *culprit.chip != *event.chip;
    if (IsTrouble(event.kind) && !other_chip) Widen(largest, event.age_ms);
  }
  for (const Process& process : snapshot.processes) Widen(largest, process.exited_ms_ago);
  return largest;
}

using Accused = std::map<WorkerId, std::vector<const Culprit*>>;

std::optional<int64_t> CulpritsAge(const Capture& capture, const Accused& accused) {
  std::optional<int64_t> largest;
  for (const Snapshot& snapshot : capture.snapshots) {
    auto it = accused.find(snapshot.worker);
    if (it == accused.end()) continue;
    for (const Culprit* culprit : it->second) Widen(largest, LargestAge(snapshot, *culprit));
  }
  return largest;
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
    const int64_t age = std::max<int64_t>(0, CulpritsAge(capture, accused).value_or(0));
    // Both ends are bounded first: a hostile age must not overflow.
    if (*detected >= kFirstMs && *detected <= kLastMs && age <= kLastMs) {
      first.at = FormatUtc(*detected - age);
    }
  }
  return first;
}

}  // namespace rapideye::digest
