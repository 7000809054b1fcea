// LostTime counts for how long the job has hung since the start, and how much time of chips that
// was.
#ifndef RAPIDEYE_COORDINATOR_CORE_LOST_TIME_H_
#define RAPIDEYE_COORDINATOR_CORE_LOST_TIME_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// The chips of a job of so many workers, by the snapshots in which a runtime lists its cores; the
// other workers are taken to have as many each. 0: none lists any.
double CountChips(const std::map<WorkerId, Snapshot>& snapshots, size_t expected_workers);

class LostTime {
 public:
  // A hang is being looked at: if it is one, the job has stood since `from`. `chips`: of the job;
  // 0 if that is not known, and what an earlier hang has shown still holds.
  void Suspect(absl::Duration from, double chips);
  // The job hangs at `now`, or does not. What hung before this coordinator came counts from the
  // first call that says so.
  void Follow(bool hangs, absl::Duration now);
  // Up to `now`; never less than before.
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
