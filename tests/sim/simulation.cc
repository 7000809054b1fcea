#include "tests/sim/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "coordinator/core/limits.h"
#include "tests/scenarios/random.h"
#include "tests/sim/agent_node.h"
#include "tests/sim/coordinator_node.h"
#include "tests/sim/hostile.h"
#include "tests/sim/job.h"
#include "tests/sim/network.h"
#include "tests/sim/referee.h"

namespace rapideye::sim {
namespace {

// After the report of a hang the simulation goes on: a second report would be a failure.
constexpr absl::Duration kAftermath = absl::Seconds(20);
// After the verdict UNKNOWN the coordinator looks twice more.
const absl::Duration kFurtherLooks = 4 * coordinator::kLookAfterUnknown;

class Simulation {
 public:
  Simulation(const Options& options, size_t trace_lines, std::vector<Said>* said)
      : options_(options),
        random_(options.seed ^ 0x73696d),
        trace_(trace_lines, said),
        job_(options),
        network_(clockwork_, scenarios::Random(random_.Next()), options.slowest_message),
        referee_(options, job_, network_, clockwork_),
        coordinator_(options, job_, clockwork_, network_, trace_, referee_,
                     scenarios::Random(random_.Next())),
        hostile_(options, job_, network_, scenarios::Random(random_.Next())) {
    for (int worker = 0; worker < job_.layout().workers(); ++worker) {
      agents_.push_back(std::make_unique<AgentNode>(
          AgentNode::Around{options_, job_, clockwork_, network_, trace_, referee_}, worker,
          scenarios::Random(random_.Next())));
    }
  }

  Outcome Run() {
    Schedule();
    absl::Duration end = End();
    bool aftermath = false;
    while (referee_.failures().empty() && clockwork_.RunNext(end)) {
      if (!referee_.Satisfied() || std::exchange(aftermath, true)) continue;
      end = clockwork_.now() + (referee_.unknown() ? kFurtherLooks : kAftermath);
    }
    if (referee_.failures().empty()) referee_.CheckEnd();
    return {referee_.failures(),
            referee_.wrong_verdicts(),
            trace_.hash(),
            referee_.hangs(),
            referee_.further_looks(),
            clockwork_.now(),
            {trace_.lines().begin(), trace_.lines().end()}};
  }

 private:
  absl::Duration End() const {
    // A job that never hangs for good is watched a while beyond all that may go wrong.
    const absl::Duration quiet = std::max(options_.quiet_at, job_.last_break());
    return job_.TruthAt(absl::Hours(1)) != nullptr ? referee_.Deadline() : quiet + kAftermath;
  }

  absl::Duration Within(absl::Duration time) {
    return absl::Milliseconds(random_.Between(0, absl::ToInt64Milliseconds(time)));
  }

  AgentNode& AnyAgent() { return *agents_[static_cast<size_t>(random_.Index(agents_.size()))]; }

  void Schedule() {
    clockwork_.At(absl::ZeroDuration(), [this] { coordinator_.Start(); });
    for (auto& agent : agents_) {
      clockwork_.At(Within(options_.agents_start_within), [&agent] { agent->Start(); });
    }
    for (int i = 0; i < options_.agent_restarts; ++i) ScheduleAgentRestart();
    for (int i = 0; i < options_.coordinator_restarts; ++i) {
      const absl::Duration at = Within(options_.quiet_at);
      const bool stops = random_.Chance(options_.coordinator_stops);
      clockwork_.At(at, [this, stops] { stops ? coordinator_.Stop() : coordinator_.Kill(); });
      clockwork_.At(at + absl::Milliseconds(random_.Between(50, 8000)) +
                        (stops ? coordinator::kStopIncident : absl::ZeroDuration()),
                    [this] { coordinator_.Start(); });
    }
    for (int i = 0; i < options_.lost_streams; ++i) ScheduleLostStream();
    for (int i = 0; i < options_.hostile_streams; ++i) {
      clockwork_.At(Within(options_.quiet_at), [this] { hostile_.Attack(); });
    }
    if (options_.false_word_at.has_value()) {
      clockwork_.At(*options_.false_word_at, [this] { AnyAgent().SayHang(); });
    }
    for (size_t worker = 0; worker < agents_.size(); ++worker) ScheduleKilledProcess(worker);
  }

  void ScheduleAgentRestart() {
    const absl::Duration at = Within(options_.quiet_at);
    AgentNode& agent = AnyAgent();
    const bool clean = random_.Chance(0.4);
    std::optional<absl::Duration> notices;
    if (random_.Chance(options_.half_open)) notices = Within(absl::Seconds(20));
    clockwork_.At(at, [&agent, clean, notices] { clean ? agent.ShutDown() : agent.Kill(notices); });
    clockwork_.At(at + Within(absl::Seconds(5)), [&agent] { agent.Start(); });
  }

  void ScheduleLostStream() {
    const bool half_open = random_.Chance(options_.half_open);
    const bool at_agent = random_.Chance(0.5);
    const absl::Duration soon = Within(absl::Milliseconds(300));
    const absl::Duration late = half_open ? Within(absl::Seconds(20)) : soon;
    AgentNode& agent = AnyAgent();
    clockwork_.At(Within(options_.quiet_at), [this, &agent, at_agent, soon, late] {
      if (!network_.Whole(agent.connection())) return;
      network_.Break(agent.connection(), at_agent ? late : soon, at_agent ? soon : late);
    });
  }

  // Agents that watch hosts tell of the end of a process without waiting for a poll.
  void ScheduleKilledProcess(size_t worker) {
    const std::optional<absl::Duration> at = job_.KilledAt(static_cast<int>(worker));
    if (!at.has_value() || !options_.watches_host) return;
    clockwork_.At(*at + Within(absl::Milliseconds(200)),
                  [this, worker] { agents_[worker]->NoticeEnd(); });
  }

  const Options& options_;
  scenarios::Random random_;
  Trace trace_;
  Clockwork clockwork_;
  Job job_;
  Network network_;
  Referee referee_;
  CoordinatorNode coordinator_;
  Hostile hostile_;
  std::vector<std::unique_ptr<AgentNode>> agents_;
};

}  // namespace

Outcome Simulate(const Options& options, size_t trace_lines, std::vector<Said>* said) {
  return Simulation(options, trace_lines, said).Run();
}

}  // namespace rapideye::sim
