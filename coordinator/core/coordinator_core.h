// CoordinatorCore is the coordinator without threads, sockets, clocks or files: it maps each
// message and each moment to effects. It checks who says what, keeps what is known of the job, and
// leaves the hang to its Watch.
//
// Agents are untrusted: an invalid message costs its sender's stream at worst, never
// another worker's, and never the process.
//
// Not synchronised: one thread owns a core with its parts (this folder), and runs its effects.
#ifndef RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
#define RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/peer_streams.h"
#include "coordinator/core/turn.h"
#include "coordinator/core/watch.h"
#include "coordinator/core/watched_job.h"
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
  // The parts of a core refer to each other: it is never copied.
  CoordinatorCore(const CoordinatorCore&) = delete;
  CoordinatorCore& operator=(const CoordinatorCore&) = delete;

  // Takes one event; the effects are to be carried out in their order. `now`
  // never goes back.
  Effects Step(Event event, const Instant& now);

  // The latest moment (monotonic) by which Step wants at least a Tick; infinite if
  // nothing depends on time.
  absl::Duration NextWake(absl::Duration now) const;

  const Counters& counters() const { return job_.counters; }
  const Membership& membership() const { return job_.membership; }
  size_t open_streams() const { return streams_.size(); }
  // After Stop: true once every Conclude and Retell has been answered.
  bool Finished() const { return watch_.stopping() && !watch_.concluding(); }

 private:
  void On(const StreamOpened& event);
  void On(const StreamRefused& event);
  void On(const StreamCutOff& event);
  void On(const StreamClosed& event);
  void On(MessageReceived& event);
  void On(const MessageMalformed& event);
  void On(const MessageSkipped& event);
  void On(const Tick&) {}
  void On(const Stop&);
  void On(const IncidentConcluded& event);
  void On(const IncidentUnreadable& event);
  void On(TextsWanted& event) { watch_.On(event); }
  void On(IncidentsOnDisk& event) { watch_.On(event); }
  void On(const StatusRequested& event) { watch_.On(event); }
  void On(const SnapshotRequested& event) { watch_.On(event); }
  void On(PauseRequested& event) { watch_.On(event); }
  void On(IncidentAcknowledged& event) { watch_.On(event); }

  bool TakeToken(StreamId stream);  // false, and the stream is refused, if it sends too fast
  void Refuse(StreamId stream, const absl::Status& status);
  void Drop(StreamId stream, bool log);  // forgets the stream and its worker's presence
  void CloseSilentStreams();
  void CloseAllIfStopped();
  void WarnOfPeer(const std::string& text);
  // Logs that an agent comes or goes; the lines are limited to the rate of a real job.
  void TellOfPeer(const std::string& text);

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

  Turn turn_;
  WatchedJob job_;
  PeerStreams streams_;
  Watch watch_;
  absl::Duration next_survey_ = -absl::InfiniteDuration();
  absl::Duration attention_after_;  // as all agents were last told
  bool all_connected_ = false;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COORDINATOR_CORE_H_
