// Mutex, MutexLock and ConditionVariable are those of the standard library, annotated so that
// clang checks at compile time (-Wthread-safety) that what a mutex guards is touched under it.
//
// absl::Mutex is annotated, too, but Debian 12's waits by the wall clock: a clock that is
// stepped back by an hour would delay every timeout by an hour. These wait by the steady one.
#ifndef RAPIDEYE_PROTO_COMMON_SYNC_MUTEX_H_
#define RAPIDEYE_PROTO_COMMON_SYNC_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace rapideye {

// Guards the members that are declared with ABSL_GUARDED_BY(it). Not recursive.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock() ABSL_UNLOCK_FUNCTION();

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a mutex from here to the end of its scope; Unlock and Lock let go of it in between.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex);
  ~MutexLock() ABSL_UNLOCK_FUNCTION();
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() ABSL_UNLOCK_FUNCTION();
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();

 private:
  Mutex& mutex_;
  bool held_ = true;
};

// Wakes threads that wait for a change of what a mutex guards. A wait may end without a
// reason, so it stands in a loop that checks its condition:
//
//   while (!ready_) changed_.Wait(mutex_);
//   while (!ready_ && changed_.WaitUntil(mutex_, deadline)) {}
class ConditionVariable {
 public:
  // Lets go of `mutex` while it waits.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // False once `deadline` has come: a time of MonotonicTime(), or InfiniteDuration().
  bool WaitUntil(Mutex& mutex, absl::Duration deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_SYNC_MUTEX_H_
