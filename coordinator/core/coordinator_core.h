// The coordinator without threads, sockets, clocks or files: what it does about
// each message and each moment.
//
// Agents are untrusted: whatever one sends costs it its stream at worst, never
// another worker's, and never the process.
//
// Not synchronised: one thread owns a core and carries out its effects.
#ifndef RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
#define RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/incident.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/module_texts.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/restart_recovery.h"
#include "coordinator/core/watched_job.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

struct Options {
  JobShape shape;
  Thresholds thresholds;
  absl::Duration collect_deadline = absl::Seconds(10);
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
  // A connection, whether or not it has said who it is.
  struct Stream {
    std::string peer;
    std::string identity;
    absl::Duration opened;
    absl::Duration heard;  // its last message
    double tokens = 0;     // messages it may still send
    absl::Duration refilled;
  };
  // A worker said that something is wrong; looked at a few times.
  struct PendingAlarm {
    std::string why;
    int tries = 0;
    absl::Duration due;
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
  void On(const Stop&);

  // Messages of a stream that speaks for `member`.
  absl::Status OnMessage(StreamId stream, const wire::Hello& hello);
  absl::Status Dispatch(const Member& member, MessageReceived& event);
  absl::Status OnHeartbeat(const Member& member, const wire::Heartbeat& heartbeat);
  absl::Status OnAlarm(const Member& member, const wire::Alarm& alarm);
  void OnWhoIs(const Member& member, const wire::WhoIs& question);
  void SendWelcome(StreamId stream, const wire::Hello& hello);
  // Half of the threshold that applies to the programs known by now: from then on
  // without progress agents look closely.
  absl::Duration AttentionAfter() const;
  void UpdateAttention();

  // False, and the stream is refused, if it sends faster than allowed.
  bool TakeToken(StreamId id, Stream& stream);
  void CountRefusal(const absl::Status& hello);
  // A line about a peer that misbehaves; beyond the limit it is only counted.
  void WarnOfPeer(const std::string& text);
  void CloseSilentStreams();
  // Forgets the stream and its worker's presence.
  void Drop(StreamId stream, bool log);
  void Refuse(StreamId stream, const absl::Status& status);

  void ShowIncarnation(const WorkerId& worker, const std::string& key, bool given);
  void OnJobRestart();
  // The incident is about processes that still are: the restart came before it,
  // and was only noticed later.
  bool IncidentIsOfThisJob() const;

  // A coordinator that has restarted, or taken the place of another one: takes up
  // the incident that most agents remember. True if that settles, for now, what
  // the job's standstill is.
  bool Recall();
  // True while agents may yet tell that an alarm belongs to such an incident.
  bool RecallMayCome() const;
  void RecallConcluded(const std::string& incident);
  void RecallBegun(const std::string& incident);
  // Tells the agent, or all whose worker has not recovered, that the digest is out.
  void TellConcluded(const Member& member);
  void TellAllConcluded();
  void UpdateSettled();

  // What looks at all workers, hence not at every event but every kJudgePeriod.
  void Survey();
  void Judge();        // raises the alarm if the job stands still
  void FollowAlarm();  // looks at the job if a worker has raised it
  // Gives the incident a name unless it has one.
  void Begin(Suspicion suspicion);
  void FollowIncident();  // acts on what has become of it
  void AbandonIncident(const std::string& why);
  void ConcludeIncident();
  // Hands over the texts once all are there; or at once, with why there are no more.
  void FollowTexts();
  void EndTexts(const std::string& why);
  void NoteRecovery(const WorkerId& worker);
  void Rearm(const std::string& why);
  void CloseAll();
  // Once it has seen what is suspect.
  void ProbeFor(std::optional<Incident>& incident);
  // The incident, or the look on demand, that this number belongs to; else nullptr.
  Incident* CollectorOf(int64_t collection);

  // What operators ask (coordinator_core_operator.cc).
  void FollowRequests();  // begins a look on demand and acts on what became of it
  void BeginInspection();
  void ConcludeInspection();
  void AbandonInspection();
  void RefuseRequests(const absl::Status& status);
  void AnswerRequests(const std::string& incident_id);
  JobStatus Status();
  WorkerStatus StatusOf(const WorkerId& id) const;
  Activity CurrentActivity() const;
  void UpdateCohorts(const std::vector<WorkerId>& workers);

  void Emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void Info(std::string text) { Emit(Log{LogLevel::kInfo, std::move(text)}); }
  void Warn(std::string text) { Emit(Log{LogLevel::kWarning, std::move(text)}); }

  WatchedJob job_;
  absl::Duration collect_deadline_;
  std::map<StreamId, Stream> streams_;
  State state_ = State::kArmed;
  std::optional<Incident> incident_;
  std::optional<ModuleTexts> texts_;  // only while concluding
  std::string incident_id_;           // unless armed
  RestartRecovery votes_;             // of incidents before this coordinator
  std::set<std::string> on_disk_;     // those that a coordinator before left there
  std::optional<PendingAlarm> alarm_;
  std::set<WorkerId> recovered_;  // completed launches since the incident
  // Which job the incident is about, as each of its workers showed it: what the
  // platform states, otherwise the training process.
  std::map<WorkerId, std::string> its_incarnations_;
  // What completes earlier is no recovery from it.
  absl::Duration recovery_from_ = -absl::InfiniteDuration();
  double peer_lines_ = kPeerLineBurst;  // that may still be logged
  absl::Duration peer_lines_refilled_ = -absl::InfiniteDuration();
  int64_t peer_lines_left_out_ = 0;
  std::optional<absl::Duration> first_hello_;
  absl::Duration next_survey_ = -absl::InfiniteDuration();
  absl::Duration judge_not_before_ = -absl::InfiniteDuration();
  absl::Duration alarm_not_before_ = -absl::InfiniteDuration();
  absl::Duration attention_after_;            // as all agents were last told
  std::optional<std::string> last_incident_;  // whose digest is out
  std::optional<Incident> inspection_;        // a look on demand; only while armed or waiting
  std::vector<Ticket> requests_;              // that wait for a look, or for the incident's end
  absl::Duration inspect_not_before_ = -absl::InfiniteDuration();
  // To find them is too much work for every status.
  std::vector<CohortStatus> cohorts_;
  size_t cohort_count_ = 0;
  absl::Duration next_cohorts_ = -absl::InfiniteDuration();
  bool all_connected_ = false;
  bool settled_ = false;  // all have been there once, or had the time to come
  bool stopping_ = false;

  // Of the running Step.
  Instant now_;
  Effects effects_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
