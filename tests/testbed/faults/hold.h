// Holding a thread of the worker for ever.
#ifndef RAPIDEYE_TESTS_TESTBED_FAULTS_HOLD_H_
#define RAPIDEYE_TESTS_TESTBED_FAULTS_HOLD_H_

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace rapideye::testbed {

// Blocks until the worker stops.
inline void HoldUntilStop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_FAULTS_HOLD_H_
