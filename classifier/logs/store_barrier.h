// Reads the lines of PyTorch's ranks that wait for the others to join the job, and tells which
// ranks have not come.
//
// Facts: _store_based_barrier() in torch/distributed/distributed_c10d.py, which is public, of 1.8
// and later. Each rank adds one to a counter of the job, and while that is below the job's size it
// writes its rank, the size and the counter every ten seconds.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_STORE_BARRIER_H_
#define RAPIDEYE_CLASSIFIER_LOGS_STORE_BARRIER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "classifier/logs/said.h"

namespace rapideye::logs {

// One barrier, as far as the lines that were read tell of it.
struct StoreBarrier {
  std::string key;
  int32_t size = 0;           // ranks of the job
  int32_t came = 0;           // the highest value of the counter
  std::set<int32_t> waiting;  // ranks that say that they wait
  SaidLine said;              // the last line

  // Adds what another log tells of the same barrier; of two barriers that with more ranks stays.
  void Add(const StoreBarrier& other);
  // The ranks that have not come. Empty unless every rank that the counter counts says that it
  // waits: the others may have come, too.
  std::set<int32_t> Missing() const;
};

// The barrier in which the line's rank waits, or has waited in vain; absent: the line tells of
// none.
std::optional<StoreBarrier> StoreBarrierIn(absl::string_view line, const SaidAt& at);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_STORE_BARRIER_H_
