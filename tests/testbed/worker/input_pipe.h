// InputPipe is the host's input pipeline: a thread reads batches for coming steps ahead.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
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

  // How many batches lay ready whenever the host came for one, as Grain counts them.
  struct Readiness {
    int64_t looks = 0;
    int64_t ready = 0;  // in all of them together
  };
  Readiness readiness();

  // Blocks until the batch of this step has been read; false if `stop` is
  // requested first.
  bool AwaitBatch(int64_t step, const std::stop_token& stop);

  // Blocks in the same way for the device, which waits at its infeed.
  bool AwaitInfeed(int64_t step, const std::stop_token& stop);

  // Where batches cease to come: they are not read any more, or they are read
  // and do not reach the device.
  enum class End { kSource, kInfeed };

  // No batch comes for steps later than `after`, or than those already on their
  // way. `starved` is called once, when somebody waits for one: on that thread,
  // with the step.
  void DryUp(End end, int64_t after, std::function<void(int64_t step)> starved);
  // Batches come again, at both ends.
  void Replenish();

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void Read(const std::stop_token& stop);
  // `last` is a member: the newest step for which a batch comes.
  bool Await(int64_t step, const int64_t& last, const std::stop_token& stop,
             std::unique_lock<std::mutex>& lock);

  const absl::Duration read_time_;
  const int read_ahead_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Readiness readiness_;
  int64_t asked_ = 0;  // newest step anyone has asked for
  int64_t ready_ = 0;  // newest step that has been read
  int64_t last_read_ = kNever;
  int64_t last_fed_ = kNever;
  std::function<void(int64_t)> starved_;
  std::jthread reader_;  // last: stops first
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_INPUT_PIPE_H_
