#include "proto/common/sync/mutex.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proto/common/clock/clock.h"

namespace rapideye {

// The analysis checks the users of these; std::mutex itself is not annotated.

void Mutex::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }

void Mutex::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

MutexLock::MutexLock(Mutex& mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS : mutex_(mutex) { mutex_.Lock(); }

MutexLock::~MutexLock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (held_) mutex_.Unlock();
}

void MutexLock::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  held_ = false;
  mutex_.Unlock();
}

void MutexLock::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.Lock();
  held_ = true;
}

void ConditionVariable::Wait(Mutex& mutex) {
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  changed_.wait(lock);
  lock.release();
}

bool ConditionVariable::WaitUntil(Mutex& mutex, absl::Duration deadline) {
  // The standard library adds to the time that it is given: the end of time would overflow.
  const absl::Duration longest = MonotonicTime() + absl::Hours(24 * 365);
  const std::chrono::steady_clock::time_point end(
      absl::ToChronoNanoseconds(std::min(deadline, longest)));
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  const std::cv_status status = changed_.wait_until(lock, end);
  lock.release();
  return status == std::cv_status::no_timeout || deadline > longest;
}

}  // namespace rapideye
