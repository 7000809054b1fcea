#include "tests/testbed/launcher/repeats.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testbed/launcher/child_process.h"

namespace rapideye::testbed {
namespace {

// The policy's default: so many events are watched.
constexpr int kWatchedEvents = 3;

constexpr absl::Duration kAskTimeout = absl::Seconds(30);

JobPlan FirstPlan(JobOptions options, const Scenario& scenario) {
  if (scenario.prepare != nullptr) scenario.prepare(options);
  return {.shape = options.shape,
          .programs = options.programs,
          .offload = options.offload,
          .pipeline = options.pipeline,
          .seed = static_cast<uint64_t>(options.seed)};
}

std::string Place(WorkerId worker) {
  return absl::StrCat("slice ", worker.slice, " task ", worker.task);
}

// Whether a verdict on this fault allows a removal if it repeats.
bool CountsAgainstTheMachine(const Truth& truth) {
  return truth.cause == "BAD_TPU_CHIP" || truth.detail == "WORKER_LOST";
}

void Compare(const Attempt& attempt, Repeated& repeated) {
  const auto wrong = [&](absl::string_view what) {
    repeated.differences.push_back(
        absl::StrCat("attempt ", repeated.attempts.size() + 1, ": ", what));
  };
  for (const std::string& difference : attempt.outcome.differences) wrong(difference);
  const RemovalDecision* decision = attempt.decision();
  if (decision == nullptr) {
    wrong(absl::StrCat("nothing was decided about ", attempt.culprit.host));
    return;
  }
  if (decision->action != attempt.expected) {
    wrong(absl::StrCat("the decision is ", decision->action, " and should be ", attempt.expected));
  }
}

void AskFleet(const JobOptions& job, Repeated& repeated) {
  absl::StatusOr<std::string> history =
      OutputOf({absl::StrCat(job.program_dir, "/rapideye"), "fleet", "history",
                repeated.attempts.front().culprit.host,
                absl::StrCat("--fleet-db=sqlite:", job.state_dir, "/fleet.db")},
               kAskTimeout);
  if (history.ok()) {
    repeated.history = *std::move(history);
  } else {
    repeated.differences.push_back(std::string(history.status().message()));
  }
}

void Tell(const Attempt& attempt, std::ostream& out) {
  const RemovalDecision* decision = attempt.decision();
  if (decision == nullptr) return;
  out << "Verdict: " << Describe(attempt.outcome.incident->finding) << "\nRemoval ("
      << attempt.removals.mode << "): " << decision->action << ": " << decision->reason << "\n";
}

absl::StatusOr<Attempt> RunAttempt(const RepeatOptions& options, const Scenario& scenario,
                                   int number) {
  ExperimentOptions experiment = options.experiment;
  experiment.job.agents_in_pods = true;  // all of the job restarts
  experiment.job.attempt = number;
  experiment.job.shape.moves = options.same_place ? 0 : number;
  Attempt attempt;
  experiment.after_verdict = [&](Job& job, const Incident& incident) -> absl::Status {
    absl::StatusOr<Removals> removals = AwaitRemovals(job, incident.directory);
    if (!removals.ok()) return removals.status();
    attempt.removals = *std::move(removals);
    return absl::OkStatus();
  };
  attempt.culprit = scenario.plan(FirstPlan(experiment.job, scenario)).truth.culprits.front();
  if (experiment.narration != nullptr) {
    *experiment.narration << "\nAttempt " << number + 1 << " of " << options.times << ": "
                          << attempt.culprit.host << " stands at " << Place(attempt.culprit.worker)
                          << "\n";
  }
  absl::StatusOr<Outcome> outcome = RunExperiment(experiment, scenario);
  if (!outcome.ok()) return outcome.status();
  attempt.outcome = *std::move(outcome);
  attempt.expected = ExpectedAction(attempt.outcome.truth, number, options.same_place);
  if (experiment.narration != nullptr) Tell(attempt, *experiment.narration);
  return attempt;
}

}  // namespace

const RemovalDecision* Attempt::decision() const {
  const auto found =
      std::find_if(removals.decisions.begin(), removals.decisions.end(),
                   [&](const RemovalDecision& made) { return made.host == culprit.host; });
  return found == removals.decisions.end() ? nullptr : &*found;
}

absl::Status CheckRepeats(const RepeatOptions& options, const Scenario& scenario) {
  if (options.experiment.heal_after.has_value()) {
    return absl::InvalidArgumentError("--repeat, --heal-after: give only one of them");
  }
  const JobOptions& job = options.experiment.job;
  if (!options.same_place && job.shape.workers() < 2) {
    return absl::InvalidArgumentError(
        "--repeat: a job of one worker has no other place: give --same-place or more workers");
  }
  const std::string history = absl::StrCat(job.state_dir, "/fleet.db");
  if (!job.state_dir.empty() && std::filesystem::exists(history)) {
    return absl::InvalidArgumentError(absl::StrCat("--repeat: ", history,
                                                   " remembers earlier incidents: give another "
                                                   "--state-dir"));
  }
  const bool broken = scenario.plan != nullptr;
  const Truth truth = broken ? scenario.plan(FirstPlan(job, scenario)).truth : Truth();
  if (truth.culprits.size() != 1 || truth.any_of_them || truth.removable) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--repeat: --fault=", scenario.name,
        ": give one that a single machine has and that no kernel tells of, such as bad-chip"));
  }
  return absl::OkStatus();
}

std::string ExpectedAction(const Truth& truth, int attempt, bool same_place) {
  // A bug of the program at one coordinate would look the same.
  if (!CountsAgainstTheMachine(truth) || same_place || attempt < kWatchedEvents) return "watch";
  return attempt == kWatchedEvents ? "remove" : "refuse";  // it has been removed already
}

absl::StatusOr<Repeated> RunRepeats(const RepeatOptions& options, const Scenario& scenario) {
  Repeated repeated;
  for (int number = 0; number < options.times; ++number) {
    absl::StatusOr<Attempt> attempt = RunAttempt(options, scenario, number);
    if (!attempt.ok()) return attempt.status();
    Compare(*attempt, repeated);
    repeated.attempts.push_back(*std::move(attempt));
    if (repeated.attempts.back().decision() == nullptr) break;
  }
  AskFleet(options.experiment.job, repeated);
  return repeated;
}

std::string Report(const Repeated& repeated) {
  std::vector<std::string> expected, decided;
  for (const Attempt& attempt : repeated.attempts) {
    expected.push_back(attempt.expected);
    decided.push_back(attempt.decision() == nullptr ? "nothing" : attempt.decision()->action);
  }
  std::string text = absl::StrCat("\nrapideye fleet history:\n", repeated.history,
                                  "\nexpected:   ", absl::StrJoin(expected, ", "),
                                  "\ndecided:    ", absl::StrJoin(decided, ", "), "\n");
  for (const std::string& difference : repeated.differences) {
    absl::StrAppend(&text, "WRONG:      ", difference, "\n");
  }
  if (repeated.differences.empty()) absl::StrAppend(&text, "RIGHT\n");
  return text;
}

}  // namespace rapideye::testbed
