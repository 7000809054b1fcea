// LostTime counts for how long the job has hung since the start, and how much time of its chips
// was lost.
#ifndef RAPIDEYE_COORDINATOR_CORE_LOST_TIME_H_
#define RAPIDEYE_COORDINATOR_CORE_LOST_TIME_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// The chips of a job of `expected_workers`, by the snapshots in which a runtime lists its cores;
// every other worker is taken to have their average. 0: no snapshot lists any.
double CountChips(const std::map<WorkerId, Snapshot>& snapshots, size_t expected_workers);

class LostTime {
 public:
  // A hang is suspected: if it is one, the job has stood since `from`. `chips`: of the job; 0 if
  // that is not known: the number from an earlier hang then still holds.
  void Suspect(absl::Duration from, double chips);
  // Notes whether the job hangs at `now`. A hang that an earlier coordinator saw begin counts from
  // the first call that reports it.
  void Follow(bool hangs, absl::Duration now);
  // The losses up to `now`; they never become less.
  Losses Total(absl::Duration now) const;

 private:
  void Add(absl::Duration hung, Losses& losses) const;

  std::optional<absl::Duration> suspected_from_;
  std::optional<absl::Duration> hangs_from_;  // while it hangs
  double chips_ = 0;
  Losses over_;  // of hangs that are over
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LOST_TIME_H_
