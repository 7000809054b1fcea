// CountRepetition counts how often, and how independently, one machine failed. Pure.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_POLICY_REPETITION_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_POLICY_REPETITION_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {

struct Repetition {
  std::set<std::string> counted;  // incidents that count against the machine
  size_t exonerated = 0;          // not counted: other hardware failed at that coordinate, too
  size_t two_ended = 0;           // not counted: ICI, and which end is bad is not known
  // Two of the counted incidents were at different coordinates, or in unrelated programs.
  bool independent = false;
};

// Counts the `events` of `machine` from `since` until `until` that concern hardware, once per
// incident. Events that exonerate the machine may come later.
Repetition CountRepetition(const std::string& machine, const std::vector<HangEvent>& events,
                           absl::Time since, absl::Time until);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_POLICY_REPETITION_H_
