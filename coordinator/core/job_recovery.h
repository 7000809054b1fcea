// Tracks whether a job recovers from an incident: which of its workers have completed launches
// since.
#ifndef RAPIDEYE_COORDINATOR_CORE_JOB_RECOVERY_H_
#define RAPIDEYE_COORDINATOR_CORE_JOB_RECOVERY_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "coordinator/core/host_votes.h"
#include "coordinator/core/job_incarnation.h"
#include "coordinator/core/membership.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

class JobRecovery {
 public:
  // Without an incident: no worker recovers.
  JobRecovery() = default;
  // `from`: a launch that completes earlier is no recovery. `shown`: which job the incident
  // is about, as each of its workers showed it (what the platform states, otherwise the
  // training process); empty if not known. `seen`: when the evidence was complete, if the job may
  // have gone on then, as after a worker's word, or where most workers were cut off; infinite if it
  // stood.
  explicit JobRecovery(absl::Duration from, std::map<WorkerId, std::string> shown = {},
                       absl::Duration seen = absl::InfiniteDuration())
      : from_(from), shown_(std::move(shown)), seen_(seen) {}

  // The worker's last launch completed at `completion`; absent: none has. True if the worker
  // has thereby recovered: a launch from before, which it can report only now, does not
  // count.
  bool Observe(const WorkerId& worker, const std::optional<absl::Duration>& completion);
  void RecoverAll(const Membership& membership);
  // The job stands, and its last launch completed at `completion`. True, once, if that was after
  // the evidence was complete: of this standstill there is no evidence yet.
  bool TakeUnseenStandstill(const std::optional<absl::Duration>& completion);

  bool Recovered(const WorkerId& worker) const { return recovered_.contains(worker); }
  // More than half of the `running` votes are of workers that have recovered.
  bool MostRecovered(double running, const HostVotes& hosts) const;

  // True if most workers still run the processes of the incident: a restart of the job that is
  // noticed now came before the incident.
  bool IsAbout(const JobIncarnation& job) const;

 private:
  absl::Duration from_ = absl::InfiniteDuration();
  std::map<WorkerId, std::string> shown_;
  absl::Duration seen_ = absl::InfiniteDuration();
  std::set<WorkerId> recovered_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_JOB_RECOVERY_H_
