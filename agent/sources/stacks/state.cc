#include "agent/sources/stacks/state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"
#include "classifier/host/stacks.h"

namespace rapideye::agent {

void StacksState::Forget() {
  wanted_ = StackLook::kNone;
  coming_ = false;
  later_look_ = false;
  progressed_ = false;
  incident_.reset();
  snapshot_until_ = -absl::InfiniteDuration();
  stacks_.clear();
  missing_.clear();
}

void StacksState::Collected(const std::optional<std::string>& incident, absl::Duration now) {
  if (progressed_ && now >= asked_at_ + kStackHold) Forget();
  // Minutes later a standstill is looked at anew, under the same name.
  const bool taken = wanted_ == StackLook::kNone && now >= asked_at_ + kStackSpacing;
  if (incident == incident_ && taken) incident_.reset();
  if (incident.has_value() ? incident == incident_ : now < snapshot_until_) {
    later_look_ = true;
    return;
  }
  later_look_ = false;
  if (incident.has_value()) {
    incident_ = incident;
  } else {
    snapshot_until_ = now + kStackReadSpacing;
  }
  if (incident.has_value() && now >= next_stop_) {
    wanted_ = StackLook::kStopping;
  } else if (now >= next_reading_) {
    wanted_ = std::max(wanted_, StackLook::kReading);
  }
}

StackLook StacksState::Ask(StackLook deepest, absl::Duration now) {
  // A look that is under way, for an operator say, is not joined by another.
  const bool busy = coming_ && now < wait_until_;
  if (busy || wanted_ == StackLook::kNone) return StackLook::kNone;
  const StackLook look = std::min(std::exchange(wanted_, StackLook::kNone), deepest);
  coming_ = true;
  progressed_ = false;
  asked_at_ = now;
  next_reading_ = now + kStackReadSpacing;
  wait_until_ = now + kPythonDeadline + kHostGrace;
  if (look > StackLook::kReading) {
    next_stop_ = now + kStackSpacing;
    wait_until_ = now + kStackDeadline + kHostGrace;
  }
  return look;
}

void StacksState::Observe(const StackReading& reading, const JobFacts&, absl::Duration,
                          Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  // No look is awaited: the stacks were asked for of an earlier process, and are worthless.
  if (!coming_) return;
  coming_ = !reading.complete;
  stacks_ = reading.stacks;
  missing_ = reading.unavailable;
}

bool StacksState::WorthWaiting(absl::Duration now) const {
  return later_look_ && (coming_ || wanted_ != StackLook::kNone) && now < wait_until_;
}

void StacksState::JobProgressed() { progressed_ = true; }

void StacksState::ProcessReplaced(std::optional<absl::Duration>) { Forget(); }

void StacksState::AddTo(Snapshot& snapshot, Instant now) const {
  if (progressed_ && now.monotonic >= asked_at_ + kStackHold) return;
  // Those that the process has written stay where its main thread was not to be seen any more.
  if (snapshot.stacks.empty() ||
      std::any_of(stacks_.begin(), stacks_.end(), classifier::IsMainThread)) {
    snapshot.stacks = stacks_;
  }
  std::vector<std::string> missing;
  if (!missing_.empty()) missing.push_back(missing_);
  if (coming_ || wanted_ != StackLook::kNone) {
    missing.push_back("stacks were still being taken when the snapshot was sent");
  }
  if (!missing.empty()) snapshot.stacks_missing = absl::StrJoin(missing, "; ");
}

}  // namespace rapideye::agent
