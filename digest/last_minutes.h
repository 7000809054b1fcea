// DescribeLastMinutes tells what moved, stopped and was logged before a capture was collected.
#ifndef RAPIDEYE_DIGEST_LAST_MINUTES_H_
#define RAPIDEYE_DIGEST_LAST_MINUTES_H_

#include <vector>

#include "classifier/verdict/verdict.h"
#include "digest/report_model.h"
#include "proto/v1/evidence.h"

namespace rapideye::digest {

// Bounded whatever the size of the job: at most kMaxLanes lanes of at most kMaxCompletions marks,
// kMaxStops stops and kMaxLogLines lines. Ages are those that each worker measured itself. Total
// and pure. `logs`: nullptr if none were read.
inline constexpr size_t kMaxLanes = 16;
inline constexpr size_t kMaxCompletions = 200;
inline constexpr size_t kMaxStops = 12;
inline constexpr size_t kMaxLogLines = 40;
LastMinutes DescribeLastMinutes(const Capture& capture, const std::vector<ReportWorker>& workers,
                                const std::vector<Culprit>& culprits, const LogEvidence* logs);

// By worker; empty if no chip reports coordinates that can be read ("6x2x0", "6,2,0").
std::vector<std::optional<TorusPlace>> FindTorusPlaces(const Capture& capture,
                                                       const std::vector<ReportWorker>& workers);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_LAST_MINUTES_H_
