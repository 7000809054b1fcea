// Events enter the coordinator's core; effects state what its caller has to do.
#ifndef RAPIDEYE_COORDINATOR_CORE_EVENTS_H_
#define RAPIDEYE_COORDINATOR_CORE_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/core/job_status.h"
#include "coordinator/core/learning.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// An agent's connection, as the shell numbers it. No number is used twice.
using StreamId = int64_t;

// An operator's request, as the shell numbers it. No number is used twice.
using Ticket = int64_t;

// Events ---------------------------------------------------------------------

struct StreamOpened {
  StreamId stream = 0;
  std::string peer;                     // address, for people
  std::string identity = {};            // of its certificate; empty without TLS
  std::vector<std::string> names = {};  // in its certificate
};

// A stream that the shell refused before it said anything.
struct StreamRefused {
  std::string peer;
  absl::Status status;
};

// A stream that the shell has cut off for what its peer did; its StreamClosed
// follows.
struct StreamCutOff {
  StreamId stream = 0;
  absl::Status status;
};

// Comes also after a Close effect; a stream that was never opened is ignored.
struct StreamClosed {
  StreamId stream = 0;
};

struct MessageReceived {
  StreamId stream = 0;
  wire::AgentMessage message;
  int64_t bytes = 0;   // on the wire
  int64_t memory = 0;  // bytes of memory that it takes, about
};

// A message broke a rule of the protocol; `status` names the field. No further
// message is read from the stream.
struct MessageMalformed {
  StreamId stream = 0;
  absl::Status status;
};

// A message of a kind that is not known here, as a newer agent may send: it is skipped,
// but counts against the rate of its stream like any other.
struct MessageSkipped {
  StreamId stream = 0;
};

// Time has passed; nothing else happened.
struct Tick {};

// The answer to a Conclude effect.
struct IncidentConcluded {
  std::string incident_id = {};
  bool hang = false;  // false: the verdict was NO_HANG, nothing was raised
  // The digest that is out says UNKNOWN.
  bool unknown = false;
  // After NO_HANG: for how much longer the pause of the job is an excuse.
  std::optional<absl::Duration> excused = std::nullopt;
  // The number of digests of this incident so far, including the one that is out.
  int64_t revision = 1;
  // The verdict of the digest; absent: unchanged since the start or since the digest before.
  std::optional<ToldVerdict> verdict = std::nullopt;
};

// The verdict on an incident under way is that programs have diverged: the texts of the
// sides are to be compared. Answered once, by a TextsGathered within kModuleTextDeadline.
struct TextsWanted {
  std::string incident_id;
  std::vector<ProgramSide> sides;  // as Verdict::sides
};

// An operator has acknowledged an incident, and the disk has it.
struct IncidentAcknowledged {
  std::string incident_id;
  Acknowledgement acknowledgement;
};

// The incidents that an earlier coordinator has left on disk; once, at the start.
struct IncidentsOnDisk {
  std::vector<std::string> ids;
  // The newest of these incidents, as far as their digests say UNKNOWN.
  std::vector<std::string> unknown = {};
  // The verdicts of the newest digests.
  std::map<std::string, ToldVerdict> verdicts = {};
  // A pause of the watch that an operator had announced to it.
  std::optional<KeptPause> pause = std::nullopt;
  // The lengths of pauses that it had learnt.
  std::optional<KeptPauses> learnt = std::nullopt;
  // The newest incident, unless its end is on disk, too.
  std::optional<std::string> open = std::nullopt;
  // The newest incident that an operator has acknowledged.
  std::optional<IncidentAcknowledged> acknowledged = std::nullopt;
};

// The answer to a Retell effect whose digest could not be read.
struct IncidentUnreadable {
  std::string incident_id;
  bool damaged = false;  // else the disk did not answer in time: it may well be whole
};

// Asks for the state of the job; answered by a StatusReport in the same Step.
struct StatusRequested {
  Ticket ticket = 0;
};

// Asks for a snapshot of the job now, hang or not. Answered once, some seconds later,
// by an Examine, a SnapshotAnswered or a SnapshotRefused.
struct SnapshotRequested {
  Ticket ticket = 0;
};

// Announces a pause of the watch, or ends it (`duration` zero). Answered by a PauseAnswered in the
// same Step.
struct PauseRequested {
  Ticket ticket = 0;
  absl::Duration duration;
  std::string reason = {};
  std::string by = {};
};

// The program is asked to end: an incident in progress is concluded with what
// there is, then all streams are closed.
struct Stop {};

using Event = std::variant<StreamOpened, StreamRefused, StreamCutOff, StreamClosed, MessageReceived,
                           MessageMalformed, MessageSkipped, Tick, IncidentConcluded, TextsWanted,
                           IncidentsOnDisk, IncidentUnreadable, StatusRequested, SnapshotRequested,
                           PauseRequested, IncidentAcknowledged, Stop>;

// Effects, to be carried out in their order ------------------------------------

struct Send {
  StreamId stream = 0;
  wire::CoordinatorMessage message;
};

// Ends the stream with this status. No Send for it follows.
struct Close {
  StreamId stream = 0;
  absl::Status status;
};

// Classify, store, log. To be answered by IncidentConcluded; must not block the
// thread that owns the core.
struct Conclude {
  std::string incident_id;
  Capture capture;
  absl::Duration detect_to_collect;
  absl::Duration collect;
  // Hardware of the workers without a snapshot, as far as their agents reported it.
  std::map<WorkerId, std::string> hardware = {};
  // The number of hosts that answered, by their certificates or addresses: decisions on removals
  // take the job for no larger, however many hosts its workers name. Absent: not known.
  std::optional<int64_t> hosts = std::nullopt;
  // A digest of this incident is out: the evidence is of a later look, and matters if the
  // verdict is another one.
  bool again = false;
  // From the job's last progress to the alarm; absent: not known, or a further look.
  std::optional<absl::Duration> detection = std::nullopt;
};

// The text of one side, from a worker that was asked for it. Not checked.
struct GatheredText {
  ProgramSide side;
  WorkerId worker;
  std::optional<wire::ModuleText> text;
  std::string problem;  // why there is none
};

// The answer to a TextsWanted, one for each side, in their order.
struct TextsGathered {
  std::string incident_id;
  std::vector<GatheredText> sides;
};

// Requests that the digest of an incident on disk is logged: it is not known whether
// it ever was. To be answered by IncidentConcluded or IncidentUnreadable;
// must not block either.
struct Retell {
  std::string incident_id;
};

struct StatusReport {
  Ticket ticket = 0;
  JobStatus status;
};

// Classify, and give verdict and capture to the operators who asked; nothing is
// stored, logged as a digest, or told to the core. Must not block the thread that
// owns the core.
struct Examine {
  std::vector<Ticket> tickets;
  Capture capture;  // its trigger is "operator"
};

// The job was found to hang while this request waited: that incident's digest is
// the answer.
struct SnapshotAnswered {
  Ticket ticket = 0;
  std::string incident_id;
};

// A refusal: there is no worker to ask, or no room; `status` says what to do next.
struct SnapshotRefused {
  Ticket ticket = 0;
  absl::Status status;
};

struct PauseAnswered {
  Ticket ticket = 0;
  absl::Status status;  // what was wrong with the request
  // The pause that lasts now.
  std::optional<PauseStatus> pause = std::nullopt;
};

// The present pause was replaced or is over: to be kept for the next coordinator.
struct PauseChanged {
  std::optional<KeptPause> pause;
};

// Longer pauses were learnt, or those of another job: to be kept for the next coordinator.
struct PausesLearnt {
  KeptPauses pauses;
};

// The job goes on after this incident, or has restarted: to be kept beside its digest, and told
// to all that were told of the incident. Once for each incident.
struct IncidentEnded {
  EndedIncident incident;
  std::string job;
};

enum class LogLevel { kInfo, kWarning, kError };

// One line, already free of control characters.
struct Log {
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

using Effect = std::variant<Send, Close, Conclude, TextsGathered, Retell, StatusReport, Examine,
                            SnapshotAnswered, SnapshotRefused, PauseAnswered, PauseChanged,
                            PausesLearnt, IncidentEnded, Log>;
using Effects = std::vector<Effect>;

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_EVENTS_H_
