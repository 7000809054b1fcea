// Standstill measures for how long a job has stood still.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_STANDSTILL_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_STANDSTILL_H_

#include <cstdint>
#include <optional>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

struct Standstill {
  // The median over all cores. Absent: no core reported it.
  std::optional<int64_t> still_ms;
  // The median over the workers in a launch, or else as above.
  std::optional<int64_t> waiting_ms;
  // The longest time for which a core may stand, or a host rest, in a job that still works.
  int64_t wait_before_failing_ms = 0;
  int64_t idle_before_failing_ms = 0;
};

Standstill MeasureStandstill(const Topology& topology);

// The time for which the worker's own cores stand in a launch, at the longest. A core that runs
// nothing waits for no other core.
std::optional<int64_t> LongestStandMs(const Snapshot& snapshot);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_STANDSTILL_H_
