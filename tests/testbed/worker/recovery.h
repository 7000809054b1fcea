// Recovery lets the faults of a worker be undone: a fault asks here whether it still
// holds.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_RECOVERY_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_RECOVERY_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

namespace rapideye::testbed {

// Thread-safe.
class Recovery {
 public:
  // Faults arranged between two healings are of one age.
  using Age = int;
  Age age() const;

  // True once faults of this age have been healed.
  bool Over(Age age) const;
  // Blocks until they are, or until `stop` is requested.
  void Await(Age age, const std::stop_token& stop) const;

  // `undo` is called at the next healing, once, on the healer's thread.
  void OnHeal(std::function<void()> undo);
  // Ends all faults that there are. What they have already destroyed (a process
  // that ended, a core that halted) stays destroyed.
  void Heal();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any healed_;
  Age age_ = 0;
  std::vector<std::function<void()>> undos_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_RECOVERY_H_
