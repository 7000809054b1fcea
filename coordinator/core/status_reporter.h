// Reports the state of the job to operators, pages and metrics.
#ifndef RAPIDEYE_COORDINATOR_CORE_STATUS_REPORTER_H_
#define RAPIDEYE_COORDINATOR_CORE_STATUS_REPORTER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"
#include "coordinator/core/look_schedule.h"
#include "coordinator/core/watched_job.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

class StatusReporter {
 public:
  // `told`: of the last incident that had a digest, if one is known.
  JobStatus Report(const WatchedJob& job, Activity activity, const ToldDigest& told,
                   const LookSchedule& looks, absl::Duration now);

 private:
  void UpdateCohorts(const Learning& learning, const std::vector<WorkerId>& workers,
                     absl::Duration now);

  // To find the cohorts is too much work for every report.
  std::vector<CohortStatus> cohorts_;
  size_t cohort_count_ = 0;
  absl::Duration next_cohorts_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_STATUS_REPORTER_H_
