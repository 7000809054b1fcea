#include "tests/testbed/worker/input_pipe.h"

#include <algorithm>
#include <utility>

namespace rapideye::testbed {

InputPipe::InputPipe(absl::Duration read_time, int read_ahead)
    : read_time_(read_time),
      read_ahead_(read_ahead),
      reader_([this](const std::stop_token& stop) { Read(stop); }) {}

bool InputPipe::AwaitBatch(int64_t step, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  ++readiness_.looks;
  readiness_.ready += std::max<int64_t>(0, ready_ - step + 1);
  asked_ = std::max(asked_, step);
  changed_.notify_all();
  return Await(step, last_read_, stop, lock);
}

InputPipe::Readiness InputPipe::readiness() {
  const std::lock_guard lock(mutex_);
  return readiness_;
}

bool InputPipe::AwaitInfeed(int64_t step, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return Await(step, last_fed_, stop, lock);
}

void InputPipe::DryUp(End end, int64_t after, std::function<void(int64_t)> starved) {
  const std::lock_guard lock(mutex_);
  starved_ = std::move(starved);
  if (end == End::kSource) {
    last_read_ = std::max({after, ready_, asked_});
  } else {
    last_fed_ = std::max(after, asked_);
  }
}

void InputPipe::Replenish() {
  const std::lock_guard lock(mutex_);
  last_read_ = kNever;
  last_fed_ = kNever;
  changed_.notify_all();
}

bool InputPipe::Await(int64_t step, const int64_t& last, const std::stop_token& stop,
                      std::unique_lock<std::mutex>& lock) {
  if (step > last) {
    if (const auto starved = std::exchange(starved_, nullptr)) starved(step);
  }
  return changed_.wait(lock, stop, [&] { return step <= last && ready_ >= step; });
}

void InputPipe::Read(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop,
                       [&] { return ready_ < std::min(asked_ + read_ahead_, last_read_); })) {
    // The source of the data takes its time, however often it is asked.
    changed_.wait_for(lock, stop, absl::ToChronoNanoseconds(read_time_), [] { return false; });
    if (stop.stop_requested()) return;
    ++ready_;
    changed_.notify_all();
  }
}

}  // namespace rapideye::testbed
