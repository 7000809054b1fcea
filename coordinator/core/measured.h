// Evidence of progress has several kinds; workers tell by the best that they have. HowToMeasure
// chooses the kind by which a job is judged, JudgeEach takes each worker by its own kind.
#ifndef RAPIDEYE_COORDINATOR_CORE_MEASURED_H_
#define RAPIDEYE_COORDINATOR_CORE_MEASURED_H_

#include <map>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/core/host_votes.h"
#include "coordinator/core/learning.h"
#include "coordinator/core/progress.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// From the best kind to the weakest.
enum class Measured { kByLaunches, kByPages, kByLines, kByActivity };

// The best kind that any worker has. Exceptions (AreExceptions) that alone tell of launches, while
// the pages of the others tell of steps, do not count: the job would be judged by them alone.
Measured HowToMeasure(const std::map<WorkerId, WorkerProgress>& workers, const HostVotes& hosts);

// True if this worker takes part in the measure.
bool Tells(const WorkerProgress& worker, Measured measured);

// Names the evidence of progress for people.
const char* Name(Measured measured);

// Judges each worker by the best kind that it has itself. A hang: most have shown no progress for
// longer than any pause and the work after it may take, and only exceptions have. So a worker that
// alone has the best kind, or that begins launches again and again, does not excuse the others for
// ever. Absent: no hang that the other measures would miss.
std::optional<Standstill> JudgeEach(const std::map<WorkerId, WorkerProgress>& workers,
                                    const HostVotes& hosts, const Thresholds& thresholds,
                                    const Learning& learning, absl::Duration now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_MEASURED_H_
