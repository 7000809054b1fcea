#include "tests/testbed/launcher/experiment.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/testbed/model/control.h"

namespace rapideye::testbed {
namespace {

constexpr absl::Duration kFirstStepTimeout = absl::Seconds(20);
// Agents wait up to 15 s between two tries.
constexpr absl::Duration kConnectTimeout = absl::Seconds(60);
constexpr absl::Duration kEffectTimeout = absl::Seconds(20);
// Time that a verdict may take beyond its thresholds before the wait is given up: long
// enough to see by how much its bound was missed.
constexpr absl::Duration kVerdictPatience = absl::Seconds(30);
constexpr absl::Duration kReportInterval = absl::Seconds(1);
constexpr absl::Duration kPromisedMargin = absl::Milliseconds(1500);

class Narrator {
 public:
  explicit Narrator(std::ostream* out) : out_(out), began_(absl::Now()) {}

  template <typename... Parts>
  void Say(const Parts&... parts) {
    if (out_ == nullptr) return;
    *out_ << absl::StreamFormat("[%6.2f s] ", absl::ToDoubleSeconds(absl::Now() - began_))
          << absl::StrCat(parts...) << std::endl;
  }

 private:
  std::ostream* out_;
  absl::Time began_;
};

absl::Status WatchAdvancing(Job& job, absl::Duration duration, Narrator& narrator) {
  const absl::Time end = absl::Now() + duration;
  while (absl::Now() < end) {
    const absl::Duration part = std::min(kReportInterval, end - absl::Now());
    if (absl::Status s = job.Watch(part); !s.ok()) return s;
    narrator.Say("step ", job.StepOfSlowest());
  }
  return absl::OkStatus();
}

// Incidents of earlier experiments with this state directory do not count.
absl::Status CheckQuiet(const Job& job, size_t before) {
  const std::vector<std::string> incidents = job.Incidents();
  if (incidents.size() <= before) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a healthy job raised an incident: ", incidents[before]));
}

absl::Status Break(Job& job, const ExperimentOptions& options, const Injection& injection,
                   Narrator& narrator) {
  for (WorkerId worker : options.agents_to_kill) {
    narrator.Say("the agent of ", HostOf(job.options().shape, worker), " is killed");
    if (absl::Status s = job.EndAgent(worker, Ending::kKilled); !s.ok()) return s;
  }
  narrator.Say("fault: ", injection.description);
  if (absl::Status s = Inject(job, injection); !s.ok()) return s;
  narrator.Say("it has taken hold; the job is at step ", job.StepOfSlowest());
  return absl::OkStatus();
}

absl::Status Judge(Job& job, size_t beyond, Outcome& outcome) {
  const absl::Duration patience =
      std::max(LaunchThreshold(job.options()), HangThreshold(job.options())) +
      job.options().poll_interval + kVerdictPatience;
  absl::StatusOr<std::string> directory = job.AwaitIncident(patience, beyond);
  const absl::Time seen = absl::Now();
  if (absl::IsDeadlineExceeded(directory.status())) {
    outcome.differences.push_back("no incident was raised");
    return absl::OkStatus();
  }
  if (!directory.ok()) return directory.status();
  absl::StatusOr<absl::Time> last_progress = job.LastProgress();
  if (!last_progress.ok()) return last_progress.status();
  absl::StatusOr<Incident> incident = ReadIncident(*directory);
  if (!incident.ok()) return incident.status();
  outcome.last_progress = *last_progress;
  outcome.latency = seen - *last_progress;
  for (std::string& difference : Differences(outcome.truth, incident->finding)) {
    outcome.differences.push_back(std::move(difference));
  }
  outcome.incident = *std::move(incident);
  return absl::OkStatus();
}

JobPlan PlanOf(const Job& job, int round) {
  const JobOptions& options = job.options();
  return {.shape = options.shape,
          .programs = options.programs,
          .offload = options.offload,
          .pipeline = options.pipeline,
          .seed = static_cast<uint64_t>(options.seed + round),
          .step = job.StepOfSlowest()};
}

// Runs from one fault to its verdict; the fault may be the second one of the job. `before`:
// incidents that there were before the first.
absl::Status Round(Job& job, const ExperimentOptions& options, const Scenario& scenario,
                   size_t before, int round, Narrator& narrator, Outcome& outcome) {
  const Injection injection = scenario.plan(PlanOf(job, round));
  outcome.truth = injection.truth;
  if (absl::Status s = Break(job, options, injection, narrator); !s.ok()) return s;
  const absl::Time heals_at = absl::Now() + options.heal_after.value_or(absl::ZeroDuration());
  if (absl::Status s = Judge(job, before + static_cast<size_t>(round), outcome); !s.ok()) return s;
  if (!outcome.incident.has_value()) return absl::OkStatus();
  if (options.after_verdict) {
    if (absl::Status s = options.after_verdict(job, *outcome.incident); !s.ok()) return s;
  }
  if (!options.heal_after.has_value()) return absl::OkStatus();
  narrator.Say("raised: ", Describe(outcome.incident->finding));
  if (absl::Status s = job.Watch(std::max(absl::ZeroDuration(), heals_at - absl::Now())); !s.ok()) {
    return s;
  }
  if (absl::Status s = job.Heal(); !s.ok()) return s;
  narrator.Say("the fault has healed");
  if (absl::Status s = job.AwaitStep(job.StepOfSlowest() + 1, kEffectTimeout); !s.ok()) return s;
  return job.AwaitCoordinatorLog("watching again", kEffectTimeout);
}

}  // namespace

absl::Status Inject(Job& job, const Injection& injection) {
  for (WorkerId worker : injection.silenced) job.ExpectSilence(worker);
  for (const Order& order : injection.orders) {
    if (absl::Status s = job.Inject(order.worker, order.fault); !s.ok()) return s;
  }
  for (const Order& order : injection.orders) {
    absl::StatusOr<ControlLine> effect = job.AwaitEffect(order.worker, kEffectTimeout);
    if (!effect.ok()) return effect.status();
  }
  for (const KernelTale& tale : injection.tales) {
    if (absl::Status s = job.Tell(tale.worker, tale.fault, tale.chip); !s.ok()) return s;
  }
  for (WorkerId worker : injection.agents_lost) {
    if (absl::Status s = job.EndAgent(worker, Ending::kKilled); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Duration LatencyBound(const JobOptions& options) {
  return LaunchThreshold(options) + options.poll_interval + kPromisedMargin;
}

absl::StatusOr<Outcome> RunExperiment(const ExperimentOptions& options, const Scenario& scenario) {
  Narrator narrator(options.narration);
  JobOptions job_options = options.job;
  if (scenario.prepare != nullptr) scenario.prepare(job_options);
  narrator.Say("starting ", job_options.shape.slices, " slices of ", job_options.shape.tasks,
               " workers with ", job_options.shape.chips,
               " chips each, an agent for each worker, and the coordinator");
  absl::StatusOr<std::unique_ptr<Job>> started = Job::Start(job_options);
  if (!started.ok()) return started.status();
  Job& job = **started;
  const size_t before = job.Incidents().size();
  if (absl::Status s = job.AwaitStep(1, kFirstStepTimeout); !s.ok()) return s;
  // A job that the coordinator has not seen advance is one that starts, and may take its time.
  if (job_options.foreign_agents.empty()) {
    if (absl::Status s = job.AwaitAllConnected(kConnectTimeout); !s.ok()) return s;
  }
  if (absl::Status s = WatchAdvancing(job, options.healthy, narrator); !s.ok()) return s;
  Outcome outcome;
  if (absl::Status s = CheckQuiet(job, before); !s.ok()) {
    if (scenario.plan != nullptr) return s;
    outcome.differences.push_back(std::string(s.message()));
  }
  if (scenario.plan != nullptr) {
    const int rounds = options.heal_after.has_value() ? 2 : 1;
    for (int round = 0; round < rounds; ++round) {
      if (absl::Status s = Round(job, options, scenario, before, round, narrator, outcome);
          !s.ok()) {
        return s;
      }
      if (round + 1 == rounds) break;
      if (absl::Status s = WatchAdvancing(job, options.healthy, narrator); !s.ok()) return s;
    }
  }
  if (options.before_end) options.before_end(job);
  narrator.Say("stopping everything");
  if (absl::Status s = job.Stop(); !s.ok()) outcome.differences.push_back(std::string(s.message()));
  return outcome;
}

}  // namespace rapideye::testbed
