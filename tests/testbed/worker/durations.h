// Durations counts how long something took, in buckets as the TPU runtime's distributions have.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_DURATIONS_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_DURATIONS_H_

#include <mutex>

#include "absl/time/time.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::testbed {

// Thread-safe. Buckets are exponential: 40 from 1 µs on, each 1.5 times as wide as the last.
class Durations {
 public:
  void Add(absl::Duration duration);

  // In microseconds, since the beginning.
  tpu::monitoring::runtime::Distribution Distribution() const;

 private:
  mutable std::mutex mutex_;
  tpu::monitoring::runtime::Distribution distribution_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_DURATIONS_H_
