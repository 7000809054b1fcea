#include "coordinator/removal/worker/removal_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/limits.h"
#include "coordinator/removal/worker/removal_worker_state.h"

namespace rapideye::coordinator {

RemovalWorker::RemovalWorker(Settings settings)
    : state_(std::make_shared<State>(std::move(settings))),
      thread_([state = state_] { state->Run(); }) {}

RemovalWorker::~RemovalWorker() {
  Stop();
  {
    const MutexLock lock(state_->mutex);
    for (const IncidentRecord& lost : state_->expected) {
      spdlog::error(
          "incident {}: never came to disk; no decision about what it names, and no hooks",
          lost.id);
    }
    state_->closing = true;
    state_->changed.NotifyAll();
  }
  if (thread_.Join(kStopRemovals)) return;
  spdlog::warn(
      "decisions about removals are left to the next start: a disk, a database or a hook hangs");
}

void RemovalWorker::Expect(IncidentRecord incident) {
  const MutexLock lock(state_->mutex);
  if (state_->job != incident.job) {
    state_->job = incident.job;
    // The next loop takes up the tasks that this one leaves, and decides about this job.
    if (state_->shared_history && state_->loop != nullptr) state_->loop->Stop();
  }
  state_->expected.push_back(std::move(incident));
  if (state_->expected.size() > kMaxPendingIncidents) {
    spdlog::error(
        "incident {}: has not come to disk; no decision about what it names, and no hooks",
        state_->expected.front().id);
    state_->expected.pop_front();
  }
  state_->changed.NotifyAll();
}

std::function<void(const std::string&)> RemovalWorker::Arrived() const {
  return [state = state_](const std::string& id) {
    {
      const MutexLock lock(state->mutex);
      const auto found =
          std::find_if(state->expected.begin(), state->expected.end(),
                       [&](const IncidentRecord& incident) { return incident.id == id; });
      if (found == state->expected.end()) return;
      state->arrived.push_back(std::move(*found));
      state->expected.erase(found);
    }
    state->Wake();
  };
}

std::function<void(const std::string&)> RemovalWorker::Ended() const {
  return [state = state_](const std::string& id) {
    {
      const MutexLock lock(state->mutex);
      state->ended.push_back(id);
    }
    state->Wake();
  };
}

void RemovalWorker::Stop() {
  const MutexLock lock(state_->mutex);
  state_->stopping = true;
  if (state_->loop != nullptr) state_->loop->Stop();
  state_->changed.NotifyAll();
}

RemovalReport RemovalWorker::Report() const {
  const MutexLock lock(state_->mutex);
  RemovalReport report = state_->report;
  if (state_->publisher == nullptr) return report;
  const Publisher::Report published = state_->publisher->GetReport();
  report.counters.incidents_delivered = static_cast<int64_t>(published.delivered);
  report.counters.delivery_failures = static_cast<int64_t>(published.failures);
  report.history_works = report.history_works && published.problem.ok();
  return report;
}

}  // namespace rapideye::coordinator
