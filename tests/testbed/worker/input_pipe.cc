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
  asked_ = std::max(asked_, step);
  changed_.notify_all();
  return changed_.wait(lock, stop, [&] { return ready_ >= step; });
}

void InputPipe::Read(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return ready_ < asked_ + read_ahead_; })) {
    // The source of the data takes its time, however often it is asked.
    changed_.wait_for(lock, stop, absl::ToChronoNanoseconds(read_time_), [] { return false; });
    if (stop.stop_requested()) return;
    ++ready_;
    changed_.notify_all();
  }
}

}  // namespace rapideye::testbed
