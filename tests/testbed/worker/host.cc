#include "tests/testbed/worker/host.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

namespace rapideye::testbed {

Host::Host(HostOptions options, Step step, std::vector<Core*> cores, InputPipe& input)
    : options_(options),
      step_(std::move(step)),
      cores_(std::move(cores)),
      input_(input),
      launch_ids_(options.seed),
      transfer_ids_(options.seed) {}

void Host::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Host::Stop() { thread_ = std::jthread(); }

void Host::AddRewrite(Rewrite rewrite) {
  const std::lock_guard lock(mutex_);
  rewrites_.push_back(std::move(rewrite));
}

void Host::OnDequeued() {
  {
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

void Host::OnCompleted(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  progress_.last_completion = absl::Now();
  size_t& cores = completed_on_[launch.run_id];
  if (++cores < cores_.size()) return;
  completed_on_.erase(launch.run_id);
  ++progress_.launches;
  if (!launch.ends_step) return;
  progress_.steps = launch.step;
  changed_.notify_all();
}

HostProgress Host::Progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

bool Host::EveryQueueHasRoom() const {
  return std::all_of(cores_.begin(), cores_.end(), [this](const Core* core) {
    return core->QueueLength() < static_cast<size_t>(options_.queue_depth);
  });
}

bool Host::Dispatch(Launch launch, const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return EveryQueueHasRoom(); })) return false;
  }
  launch.launch_id = launch_ids_.Next(launch.program->fingerprint);
  launch.transfer_id = transfer_ids_.Next(launch.program->channel);
  for (Core* core : cores_) core->Enqueue(launch);
  return true;
}

bool Host::PauseAfter(int64_t step, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return progress_.steps >= step; })) return false;
  rapideye_progress_phase(&page_, RAPIDEYE_PHASE_CHECKPOINT);
  changed_.wait_for(lock, stop, absl::ToChronoNanoseconds(options_.pause), [] { return false; });
  rapideye_progress_phase(&page_, RAPIDEYE_PHASE_NONE);
  return !stop.stop_requested();
}

void Host::CheckpointFor(absl::Duration time, std::function<void(int64_t)> begun) {
  const std::lock_guard lock(mutex_);
  checkpoint_ = time;
  checkpoint_begun_ = std::move(begun);
}

void Host::CheckpointIfAsked(int64_t step, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const absl::Duration time = std::exchange(checkpoint_, absl::ZeroDuration());
  if (time == absl::ZeroDuration()) return;
  rapideye_progress_phase(&page_, RAPIDEYE_PHASE_CHECKPOINT);
  checkpoint_begun_(step);
  changed_.wait_for(lock, stop, absl::ToChronoNanoseconds(time), [] { return false; });
}

void Host::Run(const std::stop_token& stop) {
  // Without a page the loop is the same, as with a page that cannot be opened.
  rapideye_progress_open(&page_, nullptr);
  const absl::Cleanup closing = [this] { rapideye_progress_close(&page_); };
  int64_t run_id = 0;
  for (int64_t number = 1; !stop.stop_requested(); ++number) {
    rapideye_progress_input_begin(&page_);
    const bool read = input_.AwaitBatch(number, stop);
    rapideye_progress_input_end(&page_);
    if (!read) return;
    CheckpointIfAsked(number, stop);
    rapideye_progress_step(&page_, number);
    Step step = step_;
    std::vector<Rewrite> rewrites;
    {
      const std::lock_guard lock(mutex_);
      rewrites = rewrites_;
    }
    for (const Rewrite& rewrite : rewrites) rewrite(number, step, stop);
    for (size_t i = 0; i < step.size(); ++i) {
      const bool last = i + 1 == step.size();
      if (!Dispatch({step[i], 0, ++run_id, number, last}, stop)) return;
    }
    const bool pauses =
        options_.steps_between_pauses > 0 && number % options_.steps_between_pauses == 0;
    if (pauses && !PauseAfter(number, stop)) return;
  }
}

}  // namespace rapideye::testbed
