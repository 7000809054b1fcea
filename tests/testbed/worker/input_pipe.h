// The host's input pipeline: batches for coming steps, read ahead by a thread.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "absl/time/time.h"

namespace rapideye::testbed {

// Thread-safe. Steps count from 1.
class InputPipe {
 public:
  // Reading one batch takes `read_time`; at most `read_ahead` batches lie ready
  // beyond the newest one asked for.
  InputPipe(absl::Duration read_time, int read_ahead);

  // Blocks until the batch of this step has been read; false if `stop` is
  // requested first.
  bool AwaitBatch(int64_t step, const std::stop_token& stop);

 private:
  void Read(const std::stop_token& stop);

  const absl::Duration read_time_;
  const int read_ahead_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int64_t asked_ = 0;    // newest step anyone has asked for
  int64_t ready_ = 0;    // newest step that has been read
  std::jthread reader_;  // last: stops first
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_
