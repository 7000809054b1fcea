// Watch decides when the job is collected from, and follows each incident from the suspicion to
// the recovery.
//
//   armed -> collecting -> concluding -> waiting -> armed
//
// One digest per incident: until the job has recovered from it, further looks at the same
// standstill replace that digest, and begin no second incident.
#ifndef RAPIDEYE_COORDINATOR_CORE_WATCH_H_
#define RAPIDEYE_COORDINATOR_CORE_WATCH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/incident.h"
#include "coordinator/core/job_recovery.h"
#include "coordinator/core/look_schedule.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/module_texts.h"
#include "coordinator/core/restart_recovery.h"
#include "coordinator/core/snapshots_on_demand.h"
#include "coordinator/core/status_reporter.h"
#include "coordinator/core/turn.h"
#include "coordinator/core/watch_pause.h"
#include "coordinator/core/watched_job.h"
#include "coordinator/core/worker_alarm.h"

namespace rapideye::coordinator {

// A part of CoordinatorCore, which owns `job` and `turn`, and has checked who says what.
class Watch {
 public:
  Watch(WatchedJob& job, Turn& turn, absl::Duration collect_deadline);

  // The worker's agent has said Hello on this stream, and is a member; the stream has gone; or a
  // newer one has taken its place. `voter`: PeerStreams::VoterOf.
  void OnHello(const Member& member, StreamId stream, const std::string& voter);
  void OnLeave(const WorkerId& worker);
  void OnSuperseded(const WorkerId& worker);
  // `advanced`: work has been completed since the worker's last heartbeat.
  void OnHeartbeat(const WorkerId& worker, const wire::Heartbeat& heartbeat, bool advanced);
  void OnAlarm(const WorkerId& worker, WorkerAlarm::Raised raised);
  // An answer to a collection. INVALID_ARGUMENT if the worker was not asked, or no collection
  // has such a number.
  absl::Status OnReply(const Member& member, MessageReceived& event);
  void OnJobRestart();

  void On(const IncidentConcluded& event);
  void On(TextsWanted& event);
  void On(IncidentsOnDisk& event);
  void On(const IncidentUnreadable& event);
  void On(const StatusRequested& event);
  void On(const SnapshotRequested& event);
  void On(PauseRequested& event);
  void On(IncidentAcknowledged& event);
  void Stop();

  // Called after each event, in this order. FollowCollections acts on the state of collections.
  // Every kJudgePeriod FollowWaiting looks at a job that waits to recover; if it returns true, the
  // watch is armed, and Survey looks for a standstill. FollowRequests begins what others asked for.
  void FollowCollections();
  bool FollowWaiting();
  void Survey();
  void FollowRequests();

  // When the watch next needs a turn; infinite if nothing depends on time.
  absl::Duration NextWake() const;
  bool stopping() const { return stopping_; }
  // An answer to a Conclude or Retell is outstanding.
  bool concluding() const { return state_ == State::kConcluding; }

 private:
  enum class State {
    kArmed,
    kCollecting,  // incident_ is there
    kConcluding,  // classified and stored, or read and told, outside the core
    kWaiting,     // for the job to recover: one digest per incident
  };

  void FollowAlarm();  // collects if a worker has raised it
  void Judge();        // raises the alarm if the job stands still
  void LookAgain();    // if the digest that is out says UNKNOWN, and it is time

  void Begin(Suspicion suspicion);  // gives the incident a name unless it has one
  void FollowIncident();
  void AbandonIncident(const std::string& why);
  void ConcludeIncident();
  void NoteRecovery(const WorkerId& worker);
  void Rearm(const std::string& why);
  void EndIncident(const std::string& id, const std::string& why);
  void FollowLeftOpen(const WorkerId& worker);  // ends it once most workers go on
  // Reports to the agent, or to all whose worker has not recovered, that the digest is out.
  void TellConcluded(const Member& member);
  void TellAllConcluded();

  Incident* Collecting();  // the collection under way, also on demand; nullptr: none
  Incident* CollectionOf(int64_t number);
  // Hand over the texts: once all are there; or at once, with the reason why there are no more.
  void FollowTexts();
  void EndTexts(const std::string& why);

  bool Recall();  // true if what most agents remember settles the standstill for now
  void RecallConcluded(const std::string& incident, bool written);
  void RecallWritten(const std::string& incident);
  void RecallBegun(const std::string& incident);

  void Resume(const std::string& why);  // the time of the pause is no standstill
  Activity CurrentActivity() const;
  bool Told() const { return told_.IsOf(incident_id_); }

  WatchedJob& job_;
  Turn& turn_;
  absl::Duration collect_deadline_;
  SnapshotsOnDemand on_demand_;
  StatusReporter reporter_;
  WatchPause pause_;
  RestartRecovery restart_;
  State state_ = State::kArmed;
  std::optional<Incident> incident_;
  std::optional<ModuleTexts> texts_;  // only while concluding
  std::string incident_id_;           // unless armed
  bool about_start_up_ = false;       // that incident: some worker had not come
  LookSchedule looks_;                // at a standstill whose verdict may change
  JobRecovery recovery_;              // from that incident
  // The newest incident of an earlier coordinator, until its end is seen, and the recovery from it.
  std::optional<std::pair<std::string, JobRecovery>> left_open_;
  std::optional<IncidentAcknowledged> acknowledged_;  // the last one
  WorkerAlarm alarm_;
  std::set<WorkerId> alarmed_;  // report a hang or a halt, since the last incident
  // Until then an incident counts as concluded because agents say so, although this disk does not
  // have it.
  absl::Duration believed_until_ = absl::InfiniteDuration();
  bool believed_once_ = false;  // a second such incident is not believed
  absl::Duration judge_not_before_ = -absl::InfiniteDuration();
  ToldDigest told_;  // of the last incident that had one
  bool stopping_ = false;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_WATCH_H_
