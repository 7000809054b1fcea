// AgentCore is the agent without its threads: it maps each event to the effects to carry out.
#ifndef RAPIDEYE_AGENT_CORE_AGENT_CORE_H_
#define RAPIDEYE_AGENT_CORE_AGENT_CORE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/core/host_state.h"
#include "agent/core/limits.h"
#include "agent/core/link.h"
#include "agent/core/module_texts.h"
#include "agent/core/peer_book.h"
#include "agent/core/probe_duty.h"
#include "agent/core/requests.h"
#include "agent/core/restored_state.h"
#include "agent/core/worker_view.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

struct AgentSettings {
  // Sent at the beginning of every stream; also identifies the snapshots.
  wire::Hello hello;
  // False: watches only, without a coordinator (--once).
  bool has_coordinator = true;
  // False: polls the runtime only, and does not wait for HostSampled.
  bool watches_host = false;
  // False: never probes other workers, even on request.
  bool probes = true;
  // True: saves the state for the next agent on disk (the effect Keep).
  bool keeps_state = false;
  // The state that an earlier agent has left; absent: none.
  std::optional<SavedState> kept = std::nullopt;
  // Seed of the jitter: different for every agent, the same for the same agent.
  uint64_t seed = 0;
};

// A single-threaded state machine, like its parts in this folder: no clock, thread
// or I/O. Its owner calls Step with every event, and with Wake when NextWake has
// come, in the order of time, and carries out the effects in their order. No input
// of a runtime or a coordinator makes it fail; invalid input changes nothing, or is
// reported as such in the runtime's state.
class AgentCore {
 public:
  explicit AgentCore(AgentSettings settings);

  Effects Step(const Event& event, Instant now);

  // On the monotonic clock; later than the last Step's time. Infinite after shutdown.
  absl::Duration NextWake() const { return next_wake_; }

  // True once the training process has ended, and its alarms are delivered and dealt with and a
  // collection under way has learnt of the end, or the coordinator has refused this agent. The
  // owner bounds the wait for a coordinator that never answers.
  bool MayEnd() const;

  // The snapshot that this worker would report now.
  Snapshot Describe(Instant now, bool all_groups = false) const;

 private:
  enum class Purpose { kRoutine, kDetail, kHloRequest };

  struct PollUnderWay {
    int64_t number = 0;
    Purpose purpose = Purpose::kRoutine;
    absl::Duration started;
    absl::Duration give_up_at;
    // The worker's last progress before the poll began: it identifies a standstill.
    absl::Duration progress;
    bool host_seen = false;
    std::optional<RuntimeReading> reading;  // kept until the host's reading has come, too
  };

  void Handle(const RuntimeSampled& sampled, Instant now, Effects& effects);
  void Handle(const HostSampled& sampled, Instant now, Effects& effects);
  void Handle(const LogsRead& read, Instant now, Effects& effects);
  void Handle(const ModuleTextFetched& fetched, Instant now, Effects& effects);
  void Handle(const DumpsListed& listed, Instant now, Effects& effects);
  void Handle(const ProbesMade& made, Instant, Effects& effects) { probes_.Made(made, effects); }
  void Handle(const MessageReceived& received, Instant now, Effects& effects);
  void Handle(const StreamClosed& closed, Instant now, Effects& effects);
  void Handle(const Wake&, Instant, Effects&) {}
  void Handle(const ShutdownRequested& request, Instant now, Effects& effects);
  void Handle(const wire::Collect& collect, absl::Duration now);
  void Handle(const wire::Welcome& welcome, absl::Duration now, Effects& effects);

  // The coordinator knows the host's addresses from the last Hello.
  void Announce(const std::vector<wire::HostAddress>& addresses, absl::Duration now,
                Effects& effects);
  // Carries out everything that is due.
  void Advance(Instant now, Effects& effects);
  void StartPoll(absl::Duration now, Effects& effects);
  void Begin(Purpose purpose, absl::Duration deadline, absl::Duration now, Effects& effects);
  void Finish(const PollUnderWay& poll, const RuntimeReading& reading, Instant now,
              Effects& effects);
  void Learn(const PollUnderWay& poll, const RuntimeReading& reading, absl::Duration now,
             Effects& effects);
  void FinishOverdue(Instant now, Effects& effects);
  void AnswerOverdue(Instant now, Effects& effects);
  // Tells the restored state which process is present, and raises the alarms that it holds.
  void Inherit(absl::Duration now);
  std::optional<std::string> Process() const;
  void KeepIfChanged(Instant now, Effects& effects);
  SavedState State(Instant now) const;
  void RaiseNewErrors(const RuntimeSample& sample, absl::Duration now);
  void SendHeartbeat(absl::Duration now, Effects& effects);
  void LogHealth(absl::Duration now, Effects& effects);
  void PlanWake(absl::Duration now);

  // True once nothing has moved for long, although something had been launched.
  bool InAttention(absl::Duration now) const;
  bool DetailTaken() const { return detail_taken_for_ == view_.last_progress(); }
  bool WantsDetail(absl::Duration now) const;
  bool WantsSockets(absl::Duration now) const;
  bool WantsCounters(absl::Duration now) const;
  bool KeepIsDue() const;
  absl::Duration UsualPeriod() const;
  absl::Duration Period(absl::Duration now) const;

  AgentSettings settings_;
  WorkerView view_;
  HostState host_;
  Alarms alarms_;
  Link link_;
  Requests requests_;
  PeerBook peers_;
  ModuleTexts texts_;
  ProbeDuty probes_;
  IncidentMemory incident_;
  RestoredState inherited_;
  std::optional<wire::IncidentMemory> incident_kept_;  // as it is on disk
  absl::Duration next_keep_at_ = -absl::InfiniteDuration();
  bool shut_down_ = false;

  absl::Duration heartbeat_interval_ = absl::InfiniteDuration();
  absl::Duration attention_after_ = kDefaultAttentionAfter;

  RuntimeHealth health_;
  bool host_owes_answer_ = false;
  absl::Duration next_socket_look_ = -absl::InfiniteDuration();
  absl::Duration next_counter_look_ = -absl::InfiniteDuration();
  std::optional<ProcessId> counted_for_;  // the process at that look
  std::optional<PollUnderWay> poll_;
  int64_t last_poll_ = 0;
  absl::Duration next_poll_at_ = -absl::InfiniteDuration();
  absl::Duration next_asked_at_ = -absl::InfiniteDuration();  // for a collection
  absl::Duration next_hlo_at_ = -absl::InfiniteDuration();
  // While a launch takes longer than usual, polls are fast until `overdue_until_`; they become
  // fast again no sooner than `next_overdue_`.
  absl::Duration overdue_until_ = -absl::InfiniteDuration();
  absl::Duration next_overdue_ = -absl::InfiniteDuration();
  // The standstill of the last detailed sample, told by the progress before it: each standstill
  // has one such sample.
  std::optional<absl::Duration> detail_taken_for_;

  std::optional<wire::Heartbeat> last_heartbeat_;  // on the present stream
  absl::Duration last_heartbeat_at_;
  std::optional<RuntimeHealth> logged_health_;
  absl::Duration next_health_log_at_ = -absl::InfiniteDuration();
  absl::Duration next_wake_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_AGENT_CORE_H_
