#include "tests/testbed/worker/core.h"

#include <utility>

#include "absl/time/clock.h"

namespace rapideye::testbed {

void Core::Start(Execute execute, Events events) {
  execute_ = std::move(execute);
  events_ = std::move(events);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Core::Stop() { thread_ = std::jthread(); }

void Core::Enqueue(Launch launch) {
  {
    const std::lock_guard lock(mutex_);
    state_.queued.push_back(std::move(launch));
  }
  changed_.notify_all();
}

void Core::AddGate(Gate gate) {
  const std::lock_guard lock(mutex_);
  gates_.push_back(std::move(gate));
}

void Core::MoveWithinOperation(int64_t distance) {
  const std::lock_guard lock(mutex_);
  state_.within = distance;
}

void Core::Halt(absl::string_view error) {
  const std::lock_guard lock(mutex_);
  state_.error = std::string(error);
}

size_t Core::QueueLength() const {
  const std::lock_guard lock(mutex_);
  return state_.queued.size();
}

CoreState Core::State() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

CoreUse Core::Use() const {
  const std::lock_guard lock(mutex_);
  CoreUse use = use_;
  if (state_.running.has_value()) use.busy += absl::Now() - begun_;
  return use;
}

void Core::Run(const std::stop_token& stop) {
  while (true) {
    Launch launch;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !state_.queued.empty(); })) return;
      launch = std::move(state_.queued.front());
      state_.queued.pop_front();
      state_.running = launch;
      begun_ = absl::Now();
      state_.operation = 0;
    }
    events_.dequeued();
    if (absl::Status status = RunLaunch(launch, stop); !status.ok()) {
      // A worker that stops, or a core that was halted, is no failure of the job's.
      if (absl::IsCancelled(status)) return;
      {
        const std::lock_guard lock(mutex_);
        state_.error = status.ToString();
      }
      events_.failed(status);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      state_.running.reset();
      use_.last_completion = absl::Now();
      use_.busy += use_.last_completion - begun_;
      executions_.Add(use_.last_completion - begun_);
    }
    events_.completed(launch);
  }
}

absl::Status Core::RunLaunch(const Launch& launch, const std::stop_token& stop) {
  const int count = static_cast<int>(launch.program->operations.size());
  for (int operation = 0; operation < count; ++operation) {
    std::vector<Gate> gates;
    {
      const std::lock_guard lock(mutex_);
      state_.operation = operation;
      state_.within = 0;
      gates = gates_;
    }
    for (const Gate& gate : gates) gate(launch, operation, stop);
    if (stop.stop_requested()) return absl::CancelledError("the core is stopping");
    {
      const std::lock_guard lock(mutex_);
      if (!state_.error.empty()) return absl::CancelledError("the core has halted");
    }
    if (absl::Status s = execute_(launch, operation, stop); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
