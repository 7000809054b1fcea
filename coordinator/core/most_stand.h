// JudgeMost judges a job of which most workers stand while a few seem to go on: those lie, or run a
// program of their own.
#ifndef RAPIDEYE_COORDINATOR_CORE_MOST_STAND_H_
#define RAPIDEYE_COORDINATOR_CORE_MOST_STAND_H_

#include <map>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/core/host_votes.h"
#include "coordinator/core/learning.h"
#include "coordinator/core/progress.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// A standstill of most workers for twice the threshold, if those that go on are exceptions
// (AreExceptions): workers that tell of completions, or, where all that tell stand, workers whose
// runtimes do not answer. Absent: the others decide. Pure.
std::optional<Standstill> JudgeMost(const std::map<WorkerId, WorkerProgress>& workers,
                                    const HostVotes& hosts, const Thresholds& thresholds,
                                    const Learning& learning, absl::Duration now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_MOST_STAND_H_
