#include "agent/sources/start_up/state.h"

#include <algorithm>
#include <cstdint>

namespace rapideye::agent {
namespace {

std::optional<int64_t> Age(std::optional<absl::Duration> moment, absl::Duration now) {
  if (!moment.has_value()) return std::nullopt;
  return std::max<int64_t>(0, absl::ToInt64Milliseconds(now - *moment));
}

}  // namespace

void StartUpState::Observe(const StartUpReading& reading, const JobFacts& job, absl::Duration now,
                           Notices&) {
  read_ = true;
  if (reading.process) Reach(process_, now);
  if (reading.device) Reach(device_, now);
  if (reading.coordination) Reach(coordination_, now);
  if (job.ever_launched) Reach(launch_, now);
  if (reading.obstacles.has_value()) {
    obstacles_ = *reading.obstacles;
    obstacles_at_ = now;
  }
  if (reading.settings.has_value()) settings_ = *reading.settings;
}

// A process that held the chips of the last training process may hold those of this one: obstacles
// stay until they are searched again.
void StartUpState::ProcessReplaced(std::optional<absl::Duration>) {
  for (Moment* phase : {&process_, &device_, &coordination_, &compilation_, &launch_}) {
    phase->reset();
  }
  complete_ = false;
  settings_.clear();
}

std::optional<StartUp> StartUpState::Now(absl::Duration now) const {
  if (!read_ || complete_) return std::nullopt;
  StartUp start_up;
  start_up.process_ms = Age(process_, now);
  start_up.device_ms = Age(device_, now);
  start_up.coordination_ms = Age(coordination_, now);
  start_up.compilation_ms = Age(compilation_, now);
  start_up.launch_ms = Age(launch_, now);
  start_up.obstacles = obstacles_;
  for (Obstacle& obstacle : start_up.obstacles) {
    if (!obstacle.holder.has_value() || !obstacle.holder->started_ms_ago.has_value()) continue;
    *obstacle.holder->started_ms_ago += *Age(obstacles_at_, now);
  }
  return start_up;
}

void StartUpState::AddTo(Snapshot& snapshot, Instant now) const {
  snapshot.start_up = Now(now.monotonic);
  snapshot.settings = settings_;
}

}  // namespace rapideye::agent
