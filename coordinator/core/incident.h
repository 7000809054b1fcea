// Incident follows one suspected hang from the alarm to the evidence: two collection rounds, HLO of
// the rare positions, probes of the suspects.
//
// The life of an incident:
//   first round   every connected worker is asked for a snapshot
//   pause         HLO and probes are asked for; the second round waits for its interval, and
//                 after an exit for the fate of the other workers
//   second round  every connected worker is asked again
//   answers       HLO and probes that are still out are awaited
//   done          Snapshots() is the evidence
// or, from any of these, recovered: launches have completed in between, or the
// job has restarted.
#ifndef RAPIDEYE_COORDINATOR_CORE_INCIDENT_H_
#define RAPIDEYE_COORDINATOR_CORE_INCIDENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/collection.h"
#include "coordinator/core/events.h"
#include "coordinator/core/positions.h"
#include "coordinator/core/probe_plan.h"
#include "coordinator/core/probe_round.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// The trigger of an alarm about an exit: the second round then waits longer.
inline constexpr char kExitTrigger[] = "exit";

// The reason of an alarm, and its time.
struct Suspicion {
  std::string trigger;  // as in a capture: no-progress, hang-line, halt, exit, operator
  std::string why;      // for the log
  std::optional<absl::Duration> threshold;
  Instant detected;
  // For so long the coordinator waited for the end of an announced pause; absent: no pause
  // was announced.
  std::optional<absl::Duration> announced_pause = std::nullopt;
  // The id under which agents remember the incident; absent: none.
  std::optional<std::string> incident = std::nullopt;
  // The kind of progress that stood still; empty: something else raised the alarm.
  std::string noticed_by = {};
  // True: launches that complete in between end nothing, because the evidence was asked for,
  // hang or not.
  bool to_the_end = false;
  // A few workers may complete launches in between, while the others stand
  // (Standstill::most_stand, AreExceptions).
  bool most_stand = false;
  // Time since any progress of the job, or since its start; absent: not known.
  std::optional<absl::Duration> still_for = std::nullopt;
};

class Incident {
 public:
  enum class State { kFirstRound, kPause, kSecondRound, kAnswers, kDone, kRecovered };

  // Asks all targets for their first snapshot. The two rounds are numbered
  // `first_number` and `first_number` + 1; a number is never used again.
  Incident(Suspicion suspicion, const std::vector<Target>& targets, int64_t first_number,
           absl::Duration deadline, absl::Duration now, Effects& effects);

  State state() const { return state_; }
  // The reason of kRecovered: one clause for the log.
  const char* why_recovered() const { return why_recovered_; }
  const Suspicion& suspicion() const { return suspicion_; }

  // This worker reports a hang or a halt. Once several workers do, the few that complete launches
  // do not outweigh them (AreExceptions).
  void OnAlarm(const WorkerId& worker) { alarmed_.insert(worker); }

  // True for the numbers of the two rounds.
  bool Owns(int64_t collection) const {
    return collection == first_.number() || collection == first_.number() + 1;
  }

  void OnJoin(const Target& target, absl::Duration now, Effects& effects);
  void OnLeave(const WorkerId& worker, absl::Duration now, Effects& effects);

  // Takes a worker's answers. INVALID_ARGUMENT if the worker breaks the order of the protocol or
  // speaks for another worker: its stream is to be closed. An answer that comes too late to matter
  // is ignored.
  absl::Status OnReady(const WorkerId& worker, const wire::SampleReady& ready, absl::Duration now,
                       Effects& effects);
  absl::Status OnSnapshot(const WorkerId& worker, wire::SnapshotReply reply, int64_t bytes,
                          absl::Duration now, Effects& effects);
  absl::Status OnHlo(const WorkerId& worker, const wire::HloReply& reply, absl::Duration now,
                     Effects& effects);
  absl::Status OnProbes(const WorkerId& worker, const wire::ProbeReply& reply, absl::Duration now,
                        Effects& effects);
  void OnTick(absl::Duration now, Effects& effects);

  // True once the first round has shown the suspects, until BeginProbes was called.
  bool WantsProbes() const { return wants_probes_; }
  // Asks agents for these probes, while the rounds go on.
  void BeginProbes(std::vector<PlannedProbe> plan, absl::Duration now, Effects& effects);

  // The time at which OnTick is needed next.
  absl::Duration NextWake() const;

  // Gives up the incident: cancels outstanding requests.
  void Abandon(Effects& effects);

  // The latest snapshot of each worker that answered, with HLO and probes.
  const std::map<WorkerId, Snapshot>& snapshots() const { return snapshots_; }
  // Programs named by HLO answers, for the names of modules.
  const std::vector<Program>& named_programs() const { return named_programs_; }
  absl::Duration started() const { return started_; }
  size_t probes_asked() const { return probes_.asked(); }
  size_t over_budget() const {
    return first_.over_budget() + (second_ ? second_->over_budget() : 0);
  }

 private:
  Collection* FindRound(int64_t number);
  void Advance(absl::Duration now, Effects& effects);
  void EndFirstRound(absl::Duration now, Effects& effects);
  void AskForHlo(absl::Duration now, Effects& effects);
  void Conclude(Effects& effects);
  void Recover(const char* why);
  // True if workers that completed launches between the looks are too few to end the incident.
  bool MayAdvance() const;
  double VotesOf(const WorkerId& worker) const;
  // True if most workers show another process in the second round than in the first.
  bool JobReplaced() const;
  void BeginSecondRound(absl::Duration now, Effects& effects);
  absl::Duration Remaining(absl::Duration now) const;

  Suspicion suspicion_;
  absl::Duration started_;
  absl::Duration deadline_;  // moment by which everything ends
  absl::Duration first_round_deadline_;
  absl::Duration second_round_at_;
  absl::Duration hlo_until_;
  State state_ = State::kFirstRound;
  const char* why_recovered_ = "";
  std::map<WorkerId, StreamId> connected_;
  std::map<WorkerId, double> votes_;  // of all workers that were ever connected
  Collection first_;
  std::optional<Collection> second_;
  std::map<WorkerId, LaunchesOfRound> first_launches_;
  std::map<WorkerId, Snapshot> snapshots_;
  std::set<WorkerId> advanced_;  // between the two looks
  std::set<WorkerId> alarmed_;
  std::set<WorkerId> hlo_asked_;
  std::set<WorkerId> hlo_waiting_;
  std::map<WorkerId, Snapshot> hlo_answers_;
  std::vector<Program> named_programs_;
  bool wants_probes_ = false;
  ProbeRound probes_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_INCIDENT_H_
