#include "agent/core/launch_tracker.h"

#include <algorithm>
#include <utility>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

// Launch ids are signed 32-bit counters that wrap.
int64_t Distance(int32_t from, int32_t to) {
  return static_cast<int32_t>(static_cast<uint32_t>(to) - static_cast<uint32_t>(from));
}

int32_t After(int32_t launch_id) {
  return static_cast<int32_t>(static_cast<uint32_t>(launch_id) + 1);
}

}  // namespace

bool LaunchTracker::Running::SameLaunch(const Running& other) const {
  if (fingerprint != other.fingerprint || launch_id != other.launch_id) return false;
  return launch_id.has_value() || run_id == other.run_id;
}

LaunchTracker::LaunchTracker(const CoreSample& core, absl::Duration now)
    : running_(RunningOn(core, now)), last_sample_(now), last_completion_(now) {
  if (core.fingerprint.has_value() && core.launch_id.has_value()) {
    FindOrAdd(*core.fingerprint, running_ ? *core.launch_id : After(*core.launch_id), now);
  }
}

std::optional<LaunchTracker::Running> LaunchTracker::RunningOn(const CoreSample& core,
                                                               absl::Duration now) {
  if (!core.InLaunch()) return std::nullopt;
  Running running{core.fingerprint.value_or(""), core.launch_id, std::nullopt, now, now};
  for (const SequencerSample& sequencer : core.sequencers) {
    if (sequencer.run_id.has_value()) {
      running.run_id = sequencer.run_id;
      break;
    }
  }
  return running;
}

bool LaunchTracker::Plausible(const CoreSample& core, absl::Duration now) {
  if (!core.fingerprint.has_value() || !core.launch_id.has_value()) return true;
  const Counter* counter = Find(*core.fingerprint);
  if (counter == nullptr) return true;
  const int64_t ahead = Distance(counter->next, *core.launch_id);
  // An idle core may name the launch that ran last.
  if (ahead < (core.InLaunch() ? 0 : -1)) return false;
  const absl::Duration elapsed = now - counter->seen;
  return ahead <= kLaunchCounterSlack +
                      absl::ToInt64Seconds(elapsed * static_cast<double>(kMaxLaunchesPerSecond));
}

LaunchChange LaunchTracker::Observe(const CoreSample& core, absl::Duration now) {
  LaunchChange change;
  // A halted core's launches vanish without having completed.
  if (core.error.has_value()) return change;
  if (!Plausible(core, now)) {
    change.counters_restarted = true;
    return change;
  }
  std::optional<Running> current = RunningOn(core, now);
  const bool same = running_ && current && running_->SameLaunch(*current);
  if (same) {
    running_->last_seen = now;
    last_sample_ = now;
    return change;
  }
  const std::optional<Running> ended = std::exchange(running_, std::move(current));
  change.began = running_.has_value();
  const int64_t before = completed_;
  if (ended.has_value()) {
    if (ended->launch_id.has_value()) {
      CountUpTo(ended->fingerprint, *ended->launch_id, After(*ended->launch_id), now, change);
    } else {
      Count(FindOrAdd(ended->fingerprint, 0, now), 1, change);
    }
  }
  if (core.fingerprint.has_value() && core.launch_id.has_value()) {
    const int32_t next = running_ ? *core.launch_id : After(*core.launch_id);
    CountUpTo(*core.fingerprint, next, next, now, change);
  }
  const int64_t launches = completed_ - before;
  if (launches > 0) last_completion_ = now;
  if (ended.has_value()) {
    for (Completion& completion : change.completions) {
      if (completion.fingerprint != ended->fingerprint) continue;
      completion.longest = ended->last_seen - ended->first_seen +
                           (now - last_sample_) / std::max<int64_t>(1, launches);
    }
  }
  last_sample_ = now;
  return change;
}

void LaunchTracker::MeasureAnew(absl::Duration now) {
  if (running_.has_value()) running_->first_seen = running_->last_seen = now;
}

void LaunchTracker::CountUpTo(const std::string& fingerprint, int32_t first, int32_t next,
                              absl::Duration now, LaunchChange& change) {
  Counter& counter = FindOrAdd(fingerprint, first, now);
  counter.seen = now;
  const int64_t launches = Distance(counter.next, next);
  if (launches <= 0) return;
  counter.next = next;
  Count(counter, launches, change);
}

void LaunchTracker::Count(Counter& counter, int64_t launches, LaunchChange& change) {
  counter.total += launches;
  completed_ += launches;
  for (Completion& completion : change.completions) {
    if (completion.fingerprint == counter.fingerprint) {
      completion.total = counter.total;
      return;
    }
  }
  change.completions.push_back({counter.fingerprint, counter.total, std::nullopt});
}

LaunchTracker::Counter* LaunchTracker::Find(const std::string& fingerprint) {
  const auto it = std::find_if(counters_.begin(), counters_.end(), [&](const Counter& counter) {
    return counter.fingerprint == fingerprint;
  });
  return it == counters_.end() ? nullptr : &*it;
}

LaunchTracker::Counter& LaunchTracker::FindOrAdd(const std::string& fingerprint, int32_t next,
                                                 absl::Duration now) {
  if (Counter* counter = Find(fingerprint)) return *counter;
  if (counters_.size() == kMaxPrograms) {
    counters_.erase(
        std::min_element(counters_.begin(), counters_.end(),
                         [](const Counter& a, const Counter& b) { return a.seen < b.seen; }));
  }
  counters_.push_back({fingerprint, next, 0, now});
  return counters_.back();
}

}  // namespace rapideye::agent
