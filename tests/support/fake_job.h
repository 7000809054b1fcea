// FakeJob runs a job of agents around a coordinator's core, under virtual time: for tests.
#ifndef RAPIDEYE_TESTS_SUPPORT_FAKE_JOB_H_
#define RAPIDEYE_TESTS_SUPPORT_FAKE_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/coordinator_core.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

// One agent and the worker it watches. Tests set the fields; FakeJob speaks for
// it as the real agent would.
struct FakeAgent {
  wire::Hello hello;
  StreamId stream = 0;                 // 0: not connected
  std::optional<absl::Status> closed;  // by the coordinator

  // The worker.
  std::string process = "p1";
  RuntimeState runtime = RuntimeState::kServing;
  bool advancing = true;  // completes a launch per step of the job
  bool in_flight = true;
  int64_t completed = 0;
  std::optional<absl::Duration> last_completion;
  std::vector<std::string> programs = {"aa"};  // of one step, in order
  int32_t launch_id = 100;                     // of each of them
  std::string new_program;                     // runs first, and has never completed
  int64_t pc = 0x40;
  std::optional<Phase> phase;  // as its progress page says; absent: it has none
  absl::Duration phase_began;
  std::vector<Process> processes;  // of the training process, as snapshots show them

  // The agent.
  std::optional<wire::IncidentMemory> memory;
  int64_t connection = 0;    // streams it has opened
  bool answers = true;       // a stopped one does not
  bool grants_only = false;  // answers SampleReady, then nothing
  std::string address;       // that it connects from; empty: one of its own
  std::string dump;          // the file of its program's text; empty: it has none
  std::vector<wire::CoordinatorMessage> inbox;
};

class FakeJob {
 public:
  // All agents connect, and are welcomed.
  FakeJob(Options options, int slices, int tasks);

  // Adds a worker whose agent has not connected, and does not state the job's shape.
  FakeAgent& Add(const WorkerId& worker);
  // The coordinator was killed, and another one started: it knows nothing, and
  // no agent is connected.
  void RestartCoordinator(Options options);
  void RestartCoordinator() { RestartCoordinator(options_); }
  // Sees every effect before it is carried out; the worker is that of a Send
  // or a Close.
  using Observer = std::function<void(const Effect&, std::optional<WorkerId>)>;
  void ShowEffectsTo(Observer observer) { observer_ = std::move(observer); }

  FakeAgent& at(int slice, int task) { return agents_.at({slice, task}); }
  std::map<WorkerId, FakeAgent>& agents() { return agents_; }
  CoordinatorCore& core() { return *core_; }
  Instant now() const { return now_; }

  void ConnectAll();  // who is not connected
  void Connect(FakeAgent& agent);
  void Disconnect(FakeAgent& agent);
  // Opens a stream on which no agent speaks.
  StreamId OpenStream(const std::string& address = "");
  // Says Hello on a new stream, and leaves the old one open.
  void HelloOnNewStream(FakeAgent& agent);
  void Say(FakeAgent& agent, wire::AgentMessage message, int64_t bytes = 1000);
  void Step(Event event);

  // Virtual time passes in polls of `poll`: every connected agent heartbeats, and
  // the core ticks as often as it asks to. Advancing workers complete a step at
  // each poll.
  void Run(absl::Duration time, absl::Duration poll = absl::Seconds(1));
  // True if the core has asked to be woken at once, over and over.
  bool never_sleeps() const { return never_sleeps_; }
  // Runs until a Conclude has been emitted, at most `limit`. False if there was none.
  bool RunUntilConclude(absl::Duration limit, absl::Duration poll = absl::Seconds(1));
  // All workers stop inside the launch that is in flight.
  void Freeze();
  // The worker's loop enters this phase, and its page says so.
  void Enter(FakeAgent& agent, Phase phase);
  void Thaw();
  void Heartbeat(FakeAgent& agent);
  Snapshot Show(const FakeAgent& agent) const;

  // Effects of the core, in order.
  const std::vector<Conclude>& concluded() const { return concluded_; }
  const std::vector<TextsGathered>& gathered() const { return gathered_; }
  const std::vector<std::string>& retold() const { return retold_; }
  const std::vector<StatusReport>& statuses() const { return statuses_; }
  const std::vector<Examine>& examined() const { return examined_; }
  const std::vector<SnapshotAnswered>& answered() const { return answered_; }
  const std::vector<SnapshotRefused>& refused() const { return refused_; }
  const std::vector<PauseAnswered>& pauses() const { return pauses_; }
  // Incidents whose end was announced, in order.
  const std::vector<IncidentEnded>& ended() const { return ended_; }
  // The pause as the next coordinator will find it.
  const std::optional<KeptPause>& kept_pause() const { return kept_pause_; }
  const std::optional<KeptPauses>& kept_pauses() const { return kept_pauses_; }
  // The verdict on the last incident concluded is that these sides have diverged.
  void WantTexts(std::vector<ProgramSide> sides);
  // Tells the core that the last incident was written.
  void Concluded(bool hang = true, std::optional<ToldVerdict> verdict = std::nullopt);
  bool Logged(const std::string& part) const;
  size_t most_in_flight() const { return most_in_flight_; }

 private:
  void Apply(Effects effects);
  void Receive(FakeAgent& agent, const wire::CoordinatorMessage& message);
  void Complete(FakeAgent& agent);

  Options options_;
  std::unique_ptr<CoordinatorCore> core_;
  Instant now_;
  std::map<WorkerId, FakeAgent> agents_;
  std::map<StreamId, WorkerId> by_stream_;
  StreamId next_stream_ = 1;
  Observer observer_;
  std::vector<Conclude> concluded_;
  std::vector<TextsGathered> gathered_;
  std::vector<std::string> retold_;
  std::vector<StatusReport> statuses_;
  std::vector<Examine> examined_;
  std::vector<SnapshotAnswered> answered_;
  std::vector<SnapshotRefused> refused_;
  std::vector<PauseAnswered> pauses_;
  std::vector<IncidentEnded> ended_;
  std::optional<KeptPause> kept_pause_;
  std::optional<KeptPauses> kept_pauses_;
  std::vector<std::string> log_;
  // Answers are sent one at a time, as a network would deliver them.
  std::vector<std::pair<WorkerId, wire::AgentMessage>> outbox_;
  size_t most_in_flight_ = 0;
  bool never_sleeps_ = false;
};

// Options of most tests: a launch that takes longer than four seconds is a suspicion.
Options Quick();

// A job of four workers, all of which have just stopped.
FakeJob Frozen();

// Messages of one kind that the agent has got.
template <typename Message>
int Count(const FakeAgent& agent) {
  int count = 0;
  for (const wire::CoordinatorMessage& message : agent.inbox) {
    if (std::holds_alternative<Message>(message)) ++count;
  }
  return count;
}

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_TESTS_SUPPORT_FAKE_JOB_H_
