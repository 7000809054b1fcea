// FindFirstToStop finds the core that stopped first, as far as polls can resolve it.
//
// A stuck core usually stops first: the cores that wait for it continue to their next
// collective with it. (A core that was ahead may have waited there already.)
// Within one step the difference is often smaller than the polls resolve; then the result
// is absent. Host clocks are never compared: the function compares ages at the time of
// the collection, with the poll interval and the spread of the collection as their error.
// The result supports a core that other evidence points at, and separates two cores that
// wait for each other; alone it is no evidence against a core.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_WAVEFRONT_H_
#define RAPIDEYE_CLASSIFIER_WAIT_WAVEFRONT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/job/positions.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// True if `a` reached its position before `b` did, beyond the error of the ages.
bool StoppedBefore(const Core& a, const Core& b);

// The core that stopped before all others whose age is known, beyond the error.
struct FirstToStop {
  int unit = -1;         // in Positions::units()
  int64_t ahead_ms = 0;  // of the next one, at least
  int others = 0;        // whose age is known
};
// Absent: fewer than three cores have a known age, or the errors allow another order.
std::optional<FirstToStop> FindFirstToStop(const Positions& positions);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_WAVEFRONT_H_
