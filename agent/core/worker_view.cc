#include "agent/core/worker_view.h"

#include <algorithm>
#include <utility>

#include "agent/core/incarnation.h"
#include "agent/core/limits.h"
#include "agent/sources/runtime/limits.h"

namespace rapideye::agent {

WorkerView::WorkerView(std::string prefix) : prefix_(std::move(prefix)) {}

bool WorkerView::Observe(const RuntimeSample& sample, absl::Duration now) {
  ProcessSigns signs;
  signs.runtime_was_gone = std::exchange(runtime_gone_, false);
  signs.host_name_now = sample.host_name;
  signs.process_before = process_;
  signs.process_now = process_now_;
  if (last_sample_.has_value()) signs.host_name_before = last_sample_->host_name;
  if (processes_ > 0 && !IsNewProcess(signs)) {
    signs.counters_restarted = TrackLaunches(sample, now);
  }
  const bool new_process = processes_ == 0 || IsNewProcess(signs);
  if (new_process) {
    incarnation_ = NameIncarnation(prefix_, ++processes_, signs);
    process_.reset();
    Forget(now);
    TrackLaunches(sample, now);
  }
  if (process_now_.has_value()) process_ = process_now_;
  TrackPause(now);
  position_ages_.Observe(sample, now);
  transitions_.Observe(sample, now);
  modules_.Learn(sample);
  last_sample_ = sample;
  return new_process;
}

void WorkerView::RuntimeGone() { runtime_gone_ = processes_ > 0; }

void WorkerView::Forget(absl::Duration now) {
  last_sample_.reset();
  position_ages_.Clear();
  transitions_.Clear();
  trackers_.clear();
  programs_.Clear();
  launches_completed_ = 0;
  first_seen_ = now;
  last_completion_.reset();
  last_progress_ = now;
  ever_launched_ = false;
  idle_since_.reset();
  longest_pause_.reset();
  longest_unannounced_pause_.reset();
}

// True if the counters show another process; the trackers are then useless.
bool WorkerView::TrackLaunches(const RuntimeSample& sample, absl::Duration now) {
  for (const CoreSample& core : sample.cores) {
    const auto it = trackers_.find(core.id);
    if (it == trackers_.end()) {
      // A runtime that names other cores every time would fill the memory.
      if (trackers_.size() == kMaxCores) continue;
      const LaunchTracker& tracker =
          trackers_.emplace(core.id, LaunchTracker(core, now)).first->second;
      if (tracker.in_launch()) {
        ever_launched_ = true;
        last_progress_ = now;
      }
      continue;
    }
    const LaunchChange change = it->second.Observe(core, now);
    if (change.counters_restarted) return true;
    for (const Completion& completion : change.completions) programs_.Record(completion);
    if (!change.completions.empty()) last_completion_ = now;
    if (!change.completions.empty() || change.began) {
      ever_launched_ = true;
      last_progress_ = now;
    }
    launches_completed_ = std::max(launches_completed_, it->second.completed());
  }
  return false;
}

void WorkerView::TrackPause(absl::Duration now) {
  // Host and runtime are not looked at in the same moment: the loop's announcement at either
  // end of the pause counts.
  pause_announced_ = pause_announced_ || pause_announced_now_;
  if (!AnyInLaunch()) {
    if (!idle_since_.has_value()) idle_since_ = now;
    return;
  }
  if (idle_since_.has_value() && launches_completed_ > 0) {
    const absl::Duration pause = now - *idle_since_;
    const auto raise = [pause](std::optional<absl::Duration>& longest) {
      longest = std::max(longest.value_or(absl::ZeroDuration()), pause);
    };
    raise(longest_pause_);
    if (!pause_announced_) raise(longest_unannounced_pause_);
  }
  idle_since_.reset();
  pause_announced_ = false;
}

void WorkerView::MeasureAnew(absl::Duration now) {
  for (auto& [core, tracker] : trackers_) tracker.MeasureAnew(now);
  if (idle_since_.has_value()) idle_since_ = now;
}

std::optional<absl::Duration> WorkerView::LastCompletion(int32_t core_id) const {
  const auto it = trackers_.find(core_id);
  if (it == trackers_.end()) return std::nullopt;
  return it->second.last_completion();
}

bool WorkerView::AnyInLaunch() const {
  return std::any_of(trackers_.begin(), trackers_.end(),
                     [](const auto& entry) { return entry.second.in_launch(); });
}

bool WorkerView::LaunchOverdue(absl::Duration now) const {
  const std::optional<absl::Duration> longest = programs_.LongestLaunch();
  return longest.has_value() && AnyInLaunch() && now - last_progress_ > kOverdueLaunch * *longest;
}

void WorkerView::Describe(absl::Duration now, wire::Heartbeat& heartbeat) const {
  heartbeat.process_incarnation = incarnation_;
  if (processes_ == 0) return;
  heartbeat.launches_completed = launches_completed_;
  heartbeat.since_completion = now - last_completion_.value_or(first_seen_);
  heartbeat.launch_in_flight = AnyInLaunch();
  heartbeat.programs = programs_.Statistics(modules_);
  heartbeat.queue = LongestQueue();
  heartbeat.longest_pause = longest_pause_;
  heartbeat.longest_unannounced_pause = longest_unannounced_pause_;
}

// The queue of a single core shows the order of programs; the fullest queue shows most of it.
std::vector<wire::QueueEntry> WorkerView::LongestQueue() const {
  const CoreSample* fullest = nullptr;
  for (const CoreSample& core : last_sample_->cores) {
    if (!core.InLaunch() || !core.fingerprint.has_value()) continue;
    if (fullest == nullptr || core.queued.size() > fullest->queued.size()) fullest = &core;
  }
  std::vector<wire::QueueEntry> queue;
  if (fullest == nullptr) return queue;
  queue.push_back({*fullest->fingerprint, fullest->launch_id});
  for (const QueuedSample& queued : fullest->queued) {
    if (queue.size() == kMaxHeartbeatQueue) break;
    queue.push_back({queued.fingerprint, queued.launch_id});
  }
  return queue;
}

}  // namespace rapideye::agent
