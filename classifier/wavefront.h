// The freeze wavefront: which core stopped first, as far as the polls can tell.
//
// What is stuck usually stops first: who waits for it goes on to its next meeting with
// it. (Who was ahead may have waited there already.)
// Between cores of one step that is often less than the polls resolve, and then
// nothing is concluded. Clocks of hosts are never compared: ages at the time of the
// collection are, with the time between polls and the spread of the collection as
// their error. It speaks for a core that other evidence points at, and parts two that
// wait for each other; alone it accuses nobody.
#ifndef RAPIDEYE_CLASSIFIER_WAVEFRONT_H_
#define RAPIDEYE_CLASSIFIER_WAVEFRONT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/positions.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Certainly, within the error of the ages: `a` came to where it stands before `b` did.
bool StoppedBefore(const Core& a, const Core& b);

// The core that certainly stopped before all others that tell.
struct FirstToStop {
  int unit = -1;         // in Positions::units()
  int64_t ahead_ms = 0;  // of the next one, at least
  int others = 0;        // that tell
};
// Nothing: fewer than three cores tell, or the errors leave it open.
std::optional<FirstToStop> FindFirstToStop(const Positions& positions);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAVEFRONT_H_
