// Offload tracks work that TensorCores have handed to the SparseCores of their chip.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_OFFLOAD_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_OFFLOAD_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

namespace rapideye::testbed {

// Thread-safe. A piece of work is known by its chip and the launch's run id.
class Offload {
 public:
  // Before the work is handed out: so many SparseCores will finish it.
  void Begin(int chip, int64_t run_id, int cores);

  // One SparseCore has finished its part.
  void Finish(int chip, int64_t run_id);

  // Blocks until all of them have, or `stop` is requested.
  void Await(int chip, int64_t run_id, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any finished_;
  std::map<std::pair<int, int64_t>, int> outstanding_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_OFFLOAD_H_
