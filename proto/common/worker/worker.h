// Worker runs jobs one after the other on a thread of its own: work that may block or take
// long, away from the threads that others depend on.
#ifndef RAPIDEYE_PROTO_COMMON_WORKER_WORKER_H_
#define RAPIDEYE_PROTO_COMMON_WORKER_WORKER_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

#include "absl/time/time.h"

namespace rapideye {

// Thread-safe, but for Stop and the destructor, which are the owner's. Jobs begin in the order
// in which they were posted; no lock of the worker is held while one runs or is destroyed. The
// thread starts with the first job.
class Worker {
 public:
  using Job = std::function<void()>;

  // At most `limit` jobs wait at once.
  explicit Worker(size_t limit = std::numeric_limits<size_t>::max());
  // Calls Drop(), then Stop().
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False if too many wait, or Drop or Stop was called: `job` is not going to run.
  bool Post(Job job);
  // Takes the place of a waiting job of the same `kind`, if there is one: of many requests of
  // a kind only the newest is worth the work. Otherwise as Post, whatever else waits.
  bool PostLatest(Job job, int kind = 0);

  // Drops the jobs that have not begun, and takes no more. Returns at once.
  void Drop();
  // Takes no more jobs, and returns when those that wait have run, too. False if that takes
  // longer than `patience`: then the thread is left behind with them, so jobs must own all
  // that they use. Without a limit to the patience they need not.
  bool Stop(absl::Duration patience = absl::InfiniteDuration());
  // Calls Drop(), then Stop(), with a `patience` that counts from the beginning of the running job:
  // a job that has hung for long already is not waited for again.
  bool Abandon(absl::Duration patience);

 private:
  struct State;  // outlives this while the thread hangs

  const size_t limit_;
  const std::shared_ptr<State> state_;
};

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_WORKER_WORKER_H_
