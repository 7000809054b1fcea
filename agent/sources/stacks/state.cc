#include "agent/sources/stacks/state.h"

#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {

void StacksState::Collected(const std::string& incident, absl::Duration now) {
  if (incident == incident_) {
    later_look_ = true;
    return;
  }
  incident_ = incident;
  later_look_ = false;
  wanted_ = now >= next_ask_;
}

bool StacksState::Ask(absl::Duration now) {
  if (!wanted_) return false;
  wanted_ = false;
  coming_ = true;
  wait_until_ = now + kStackDeadline + kHostGrace;
  next_ask_ = now + kStackSpacing;
  return true;
}

void StacksState::Observe(const StackReading& reading, const JobFacts&, absl::Duration,
                          Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  // What was asked for before the job advanced is old.
  if (!coming_) return;
  coming_ = false;
  stacks_ = reading.stacks;
}

bool StacksState::WorthWaiting(absl::Duration now) const {
  return later_look_ && coming_ && now < wait_until_;
}

void StacksState::ProcessReplaced(std::optional<absl::Duration>) { JobProgressed(); }

void StacksState::AddTo(Snapshot& snapshot, Instant) const { snapshot.stacks = stacks_; }

void StacksState::JobProgressed() {
  incident_.reset();
  wanted_ = false;
  coming_ = false;
  later_look_ = false;
  stacks_.clear();
}

}  // namespace rapideye::agent
