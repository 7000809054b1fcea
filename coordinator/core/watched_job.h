// WatchedJob holds the state that the parts of the coordinator's core share: the job as far as it
// is known, and the counters and numbers since the coordinator started.
#ifndef RAPIDEYE_COORDINATOR_CORE_WATCHED_JOB_H_
#define RAPIDEYE_COORDINATOR_CORE_WATCHED_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/address_book.h"
#include "coordinator/core/collection.h"
#include "coordinator/core/incident.h"
#include "coordinator/core/job_incarnation.h"
#include "coordinator/core/job_status.h"
#include "coordinator/core/launch_times.h"
#include "coordinator/core/learning.h"
#include "coordinator/core/lost_time.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/probe_plan.h"
#include "coordinator/core/progress.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// Gives each incident two numbers for its collections on the wire, and each round of module
// texts as many, so that the first of an incident is odd. No number is given twice.
class CollectionNumbers {
 public:
  // Returns the first of two numbers.
  int64_t TakePair() { return std::exchange(next_, next_ + 2); }
  bool Given(int64_t number) const { return number > 0 && number < next_; }

 private:
  int64_t next_ = 1;
};

// The suspicion with which this standstill raises the alarm.
Suspicion SuspicionOf(const Standstill& standstill, const Instant& now);

struct WatchedJob {
  WatchedJob(JobShape shape, Thresholds limits, IdentityRules identity = {})
      : thresholds(limits), membership(std::move(shape), std::move(identity)) {}

  // Progress::Judge and Progress::Measure with the thresholds of this job.
  std::optional<Standstill> Judge(absl::Duration now) const;
  std::optional<Standstill> Measure(absl::Duration now) const;
  // Thresholds of the slowest known program's launch, and of the time without a launch.
  absl::Duration LaunchThreshold() const;
  absl::Duration HangThreshold() const;
  // The standstill of a job without any evidence of progress, of which a worker has not come
  // while others have, or all have come and most only wait: once the startup grace has ended, and
  // again each time that it has passed once more.
  std::optional<Standstill> JudgeStartUp(absl::Duration now) const;
  // Time since the first agent came, or the job restarted, without a known launch or step;
  // absent: a launch or step has completed, or no agent has come.
  std::optional<absl::Duration> StartingFor(absl::Duration now) const;
  // Expected workers that never said Hello, and workers without a known training process while
  // others have one. Sorted.
  std::vector<WorkerId> NotCome() const;
  std::vector<WorkerId> WithoutProcess() const;
  // Connected workers that are behind others in the start-up, or that an obstacle keeps which
  // their hosts know; `obstructed`: only the latter. Sorted.
  std::vector<WorkerId> Behind() const;
  std::vector<WorkerId> Obstructed() const;
  // The worker's stream has gone.
  void Left(const WorkerId& worker, absl::Duration now);
  // Retires workers that have gone if the job goes on without them: those that announced it, and
  // slices without a worker left. A single worker that has just vanished stays expected: its
  // agent may have crashed. Returns a line of the log for each.
  std::vector<std::string> RetireLeavers(absl::Duration now);
  // Half of the threshold that applies to the programs known by now: after so long without
  // progress agents look closely.
  absl::Duration AttentionAfter() const;
  // Takes over the pauses that an earlier coordinator left on disk. They count once the job is
  // settled, if they are of the same job.
  void TakeOver(std::optional<KeptPauses> left);
  // The pauses to be written for the next coordinator, if they have changed, now and then; absent
  // before TakeOver.
  std::optional<KeptPauses> PausesToKeep(absl::Duration now);
  // Returns `settled`: all expected workers have been there once, or had the time to come.
  // Shortly after a start most agents may still be on their way back. A worker that leaves after
  // all were there is evidence, and not waited for.
  bool UpdateSettled(absl::Duration now);

  std::vector<Target> ConnectedWorkers() const;
  // The name is the same for the same job and moment, in every coordinator.
  std::string NameIncident(absl::Time detected) const;
  // The probes for Incident::BeginProbes.
  std::vector<PlannedProbe> PlanProbes(const Incident& incident) const;
  // The evidence that the incident has collected, completed by the coordinator's own knowledge of
  // the job. Learns the names of modules in it.
  Capture BuildCapture(const Incident& incident);
  // The job that the incident is about, as each of its workers showed it.
  std::map<WorkerId, std::string> ShownIn(const Incident& incident) const;
  // Hardware of the workers without a snapshot, as far as their agents ever stated it.
  std::map<WorkerId, std::string> HardwareOfMissing(const Incident& incident) const;
  // The number for Conclude::hosts.
  int64_t HostsIn(const Incident& incident) const;

  Thresholds thresholds;
  Membership membership;
  AddressBook addresses;
  JobIncarnation incarnation;
  Progress progress;
  Learning learning;
  LaunchTimes launch_times;
  LostTime lost_time;
  std::vector<EndedIncident> ended;  // the last kMaxEndedIncidents
  Counters counters;
  CollectionNumbers collections;
  std::optional<absl::Duration> first_hello;
  std::optional<absl::Duration> started;  // time of the first Hello of this incarnation of the job
  absl::Duration next_retire = -absl::InfiniteDuration();
  absl::Duration start_up_not_before = -absl::InfiniteDuration();  // judged again
  bool settled = false;
  bool may_keep_pauses = false;                // the earlier coordinator's pauses have been read
  std::optional<KeptPauses> inherited_pauses;  // until the job is settled
  KeptPauses kept_pauses;                      // as last written
  absl::Duration keep_pauses_not_before = -absl::InfiniteDuration();
  std::map<WorkerId, absl::Duration> left_at;  // of workers that have gone and are expected
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_WATCHED_JOB_H_
