#include "agent/sources/progress_page/state.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "classifier/host/pause.h"

namespace rapideye::agent {

bool AnnouncesPause(const std::optional<Progress>& progress) {
  return progress.has_value() && rapideye::AnnouncesPause(progress->phase);
}

void ProgressPageState::Observe(const ProgressReading& reading, const JobFacts&, absl::Duration now,
                                Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  const std::optional<ProgressSample> before = std::exchange(last_, reading.progress);
  seen_ = now;
  const bool tells =
      last_.has_value() && (last_->step.has_value() || last_->phase != Phase::kUnspecified);
  if (!tells) {
    last_advance_.reset();
    was_seen_to_change_ = false;
  } else if (!before.has_value() || !last_advance_.has_value()) {
    // A phase that is found under way may have begun long ago.
    last_advance_ = now - last_->phase_for.value_or(absl::ZeroDuration());
  } else if (before->step != last_->step || before->phase != last_->phase) {
    last_advance_ = now;
    was_seen_to_change_ = true;
  }
}

bool ProgressPageState::AnnouncesPause() const {
  return last_.has_value() && rapideye::AnnouncesPause(last_->phase);
}

void ProgressPageState::AddTo(Snapshot& snapshot, Instant now) const {
  if (last_.has_value()) snapshot.devices = last_->devices;
  std::optional<Progress> page = Now(now.monotonic);
  if (!page.has_value()) return;
  if (!page->step.has_value() && snapshot.progress.has_value()) {
    page->step = snapshot.progress->step;
    page->step_ms = snapshot.progress->step_ms;
    page->longest_step_ms = snapshot.progress->longest_step_ms;
  }
  snapshot.progress = page;
}

std::optional<Progress> ProgressPageState::Now(absl::Duration now) const {
  if (!last_.has_value()) return std::nullopt;
  const absl::Duration since = std::max(now - seen_, absl::ZeroDuration());
  const auto aged = [since](std::optional<absl::Duration> age) -> std::optional<int64_t> {
    if (!age.has_value()) return std::nullopt;
    return absl::ToInt64Milliseconds(*age + since);
  };
  Progress progress;
  progress.step = last_->step;
  progress.phase = last_->phase;
  progress.phase_ms = aged(last_->phase_for);
  if (progress.phase == Phase::kUnspecified && was_seen_to_change_) {
    progress.phase_ms = absl::ToInt64Milliseconds(now - *last_advance_);
  }
  progress.input_wait_ms = aged(last_->input_wait);
  return progress;
}

}  // namespace rapideye::agent
