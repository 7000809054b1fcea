// CoordinatorCore is the coordinator without threads, sockets, clocks or files: it maps each
// message and each moment to effects.
//
// Agents are untrusted: an invalid message costs its sender's stream at worst, never
// another worker's, and never the process.
//
// Not synchronised: one thread owns a core with its parts (this folder), and runs its effects.
#ifndef RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
#define RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_

#include <cstddef>
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
#include "coordinator/core/limits.h"
#include "coordinator/core/look_schedule.h"
#include "coordinator/core/module_texts.h"
#include "coordinator/core/peer_streams.h"
#include "coordinator/core/restart_recovery.h"
#include "coordinator/core/snapshots_on_demand.h"
#include "coordinator/core/status_reporter.h"
#include "coordinator/core/watch_pause.h"
#include "coordinator/core/watched_job.h"
#include "coordinator/core/worker_alarm.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

struct Options {
  JobShape shape;
  Thresholds thresholds;
  absl::Duration collect_deadline = absl::Seconds(10);
  IdentityRules identity = {};
};

class CoordinatorCore {
 public:
  explicit CoordinatorCore(Options options);

  // Takes one event; the effects are to be carried out in their order. `now`
  // never goes back.
  Effects Step(Event event, const Instant& now);

  // The latest moment (monotonic) by which Step wants at least a Tick; infinite if
  // nothing depends on time.
  absl::Duration NextWake(absl::Duration now) const;

  const Counters& counters() const { return job_.counters; }
  const Membership& membership() const { return job_.membership; }
  size_t open_streams() const { return streams_.size(); }
  // After Stop: true once no Conclude or Retell is unanswered any more.
  bool Finished() const { return stopping_ && state_ != State::kConcluding; }

 private:
  enum class State {
    kArmed,
    kCollecting,  // incident_ is there
    kConcluding,  // classified and stored, or read and told, outside the core
    kWaiting,     // for the job to recover: one digest per incident
  };

  void On(const StreamOpened& event);
  void On(const StreamRefused& event);
  void On(const StreamCutOff& event);
  void On(const StreamClosed& event);
  void On(MessageReceived& event);
  void On(const MessageMalformed& event);
  void On(const MessageSkipped& event);
  void On(const Tick&) {}
  void On(const IncidentConcluded& event);
  void On(TextsWanted& event);
  void On(IncidentsOnDisk& event);
  void On(const IncidentUnreadable& event);
  void On(const StatusRequested& event);
  void On(const SnapshotRequested& event);
  void On(PauseRequested& event);
  void On(IncidentAcknowledged& event);
  void On(const Stop&);

  bool TakeToken(StreamId stream);  // false, and the stream is refused, if it sends too fast
  void Refuse(StreamId stream, const absl::Status& status);
  void Drop(StreamId stream, bool log);  // forgets the stream and its worker's presence
  void LeaveCollections(const WorkerId& worker);
  void CloseSilentStreams();
  void CloseAll();

  // Messages of a stream that speaks for `member`.
  absl::Status OnHello(StreamId stream, const wire::Hello& hello);
  absl::Status Dispatch(const Member& member, MessageReceived& event);
  void OnHeartbeat(const Member& member, const wire::Heartbeat& heartbeat);
  void OnAlarm(const Member& member, const wire::Alarm& alarm);
  void SendWelcome(StreamId stream, const wire::Hello& hello);
  void UpdateAttention();
  void ShowIncarnation(const WorkerId& worker, const std::string& key, bool given);
  void OnJobRestart();

  // Does the work over all workers, every kJudgePeriod rather than at every event.
  void Survey();
  void Judge();        // raises the alarm if the job stands still
  void FollowAlarm();  // collects if a worker has raised it
  void LookAgain();    // if the digest that is out says UNKNOWN, and it is time

  void Begin(Suspicion suspicion);  // gives the incident a name unless it has one
  void FollowIncident();            // acts on what has become of it
  void AbandonIncident(const std::string& why);
  void ConcludeIncident();
  void NoteRecovery(const WorkerId& worker);
  void Rearm(const std::string& why);
  void EndIncident(const std::string& id, const std::string& why);
  void FollowLeftOpen(const WorkerId& worker);  // ends it once most workers go on
  // Reports to the agent, or to all whose worker has not recovered, that the digest is out.
  void TellConcluded(const Member& member);
  void TellAllConcluded();
  Incident* Collecting();  // what is being collected, also on demand; nullptr if nothing is
  // Hands over the texts once all are there; or at once, with why there are no more.
  void FollowTexts();
  void EndTexts(const std::string& why);

  bool Recall();  // true if what most agents remember settles the standstill for now
  void RecallConcluded(const std::string& incident, bool written);
  void RecallWritten(const std::string& incident);
  void RecallBegun(const std::string& incident);

  void Resume(const std::string& why);  // the watch: what the pause lasted is no standstill

  Activity CurrentActivity() const;

  void Emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void Info(std::string text) { Emit(Log{LogLevel::kInfo, std::move(text)}); }
  void Warn(std::string text) { Emit(Log{LogLevel::kWarning, std::move(text)}); }
  void WarnOfPeer(const std::string& text);
  // Logs that an agent comes or goes, as often as a real job has it.
  void TellOfPeer(const std::string& text);

  WatchedJob job_;
  absl::Duration collect_deadline_;
  PeerStreams streams_;
  SnapshotsOnDemand on_demand_;
  StatusReporter reporter_;
  WatchPause pause_;
  RestartRecovery restart_;
  State state_ = State::kArmed;
  std::optional<Incident> incident_;
  std::optional<ModuleTexts> texts_;  // only while concluding
  std::string incident_id_;           // unless armed
  bool about_start_up_ = false;       // that incident: somebody had not come
  LookSchedule looks_;                // at a standstill whose verdict may change
  JobRecovery recovery_;              // from that incident
  // The newest incident of an earlier coordinator, until its end is seen, and the recovery from it.
  std::optional<std::pair<std::string, JobRecovery>> left_open_;
  std::optional<IncidentAcknowledged> acknowledged_;  // the last one
  WorkerAlarm alarm_;
  std::set<WorkerId> alarmed_;  // report a hang or a halt, since the last incident
  // An incident that agents say is concluded, and that this disk does not have, is believed for
  // so long.
  absl::Duration believed_until_ = absl::InfiniteDuration();
  bool believed_once_ = false;  // and none after that
  absl::Duration next_survey_ = -absl::InfiniteDuration();
  absl::Duration judge_not_before_ = -absl::InfiniteDuration();
  absl::Duration attention_after_;  // as all agents were last told
  ToldDigest told_;                 // of the last incident that had one
  bool all_connected_ = false;
  bool stopping_ = false;

  Instant now_;  // of the running Step
  Effects effects_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
