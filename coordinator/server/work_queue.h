// One thread for work that may block or take long, away from the threads that
// agents depend on.
#ifndef RAPIDEYE_COORDINATOR_SERVER_WORK_QUEUE_H_
#define RAPIDEYE_COORDINATOR_SERVER_WORK_QUEUE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

namespace rapideye::coordinator {

// Thread-safe.
class WorkQueue {
 public:
  // At most `limit` pieces of work wait at once.
  explicit WorkQueue(size_t limit);
  // Stops. Waits for the work that has begun, until it has taken kDiskPatience:
  // then the thread is left behind, so work must own all that it uses.
  ~WorkQueue();

  // False if too much waits, or Stop was called: `work` is not going to run.
  bool Post(std::function<void()> work);
  // Drops what has not begun; takes nothing more.
  void Stop();

 private:
  struct State;  // outlives this while the thread hangs

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_WORK_QUEUE_H_
