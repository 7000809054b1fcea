// HloAssignment holds the device that runs each partition of a compiled program.
#ifndef RAPIDEYE_CLASSIFIER_HLO_ASSIGNMENT_H_
#define RAPIDEYE_CLASSIFIER_HLO_ASSIGNMENT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "classifier/hlo/groups.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Numbers of devices in the job, by partition. None occurs twice.
using HloAssignment = std::vector<int64_t>;

// Reads the device assignment of XLA's execution options, which are dumped beside a program's text
// (….execution_options.txt). Absent: there is none, it is not whole, or the program has replicas
// (then the text alone does not say whether its groups number replicas or partitions).
std::optional<HloAssignment> ParseHloAssignment(std::string_view execution_options);

// The groups of a collective as devices in the job. Empty unless they hold every partition once:
// then they cannot number anything else. A group of one device meets nobody and is left out, as is
// one that is too large for a capture.
std::vector<DeviceGroup> DeviceGroupsOf(const HloGroups& groups, const HloAssignment& assignment);

// The pairs of a permutation, source and target, as devices in the job. Empty unless every
// partition is the source of one pair at most, and the target of one. A device that keeps its own
// data waits for nobody, and is left out.
std::vector<DeviceGroup> DevicePairsOf(const HloGroups& pairs, const HloAssignment& assignment);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_ASSIGNMENT_H_
