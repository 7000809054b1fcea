// Judges a job of which most workers stand while a few seem to go on: those lie, or run a program
// of their own.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/measured.h"

namespace rapideye::coordinator {
namespace {

// The longest allowance of an announced pause; zero: no pause, or a threshold of the operator's.
absl::Duration LongestAllowance(const std::map<WorkerId, WorkerProgress>& workers,
                                const Thresholds& thresholds, const Learning& learning) {
  absl::Duration longest = absl::ZeroDuration();
  if (thresholds.launch.has_value()) return longest;
  for (const auto& [id, worker] : workers) {
    if (!worker.Pauses()) continue;
    longest = std::max(longest, PauseAllowance(thresholds, learning, *worker.phase));
  }
  return longest;
}

// Since when a single worker has completed nothing, and for how long that is allowed.
struct WorkerStanding {
  absl::Duration since;
  absl::Duration threshold;
};

// Absent unless the worker is in a launch or in a step.
std::optional<WorkerStanding> StandingOf(const WorkerProgress& worker, Measured measured,
                                         const Thresholds& thresholds, const Learning& learning) {
  if (!worker.last_completion.has_value()) return std::nullopt;
  if (measured == Measured::kByPages) {
    if (worker.phase != Phase::kStep || learning.LongestStep() == absl::ZeroDuration()) {
      return std::nullopt;
    }
    return WorkerStanding{*worker.last_completion, StepThreshold(thresholds, learning)};
  }
  if (!worker.in_flight_since.has_value()) return std::nullopt;
  // The first launch of a program may take long.
  const bool known = !worker.program.has_value() || learning.HasCompleted(*worker.program);
  return WorkerStanding{std::max(*worker.last_completion, *worker.in_flight_since),
                        known ? LaunchThreshold(thresholds, learning, worker.program)
                              : HangThreshold(thresholds, learning)};
}

struct Completion {
  absl::Duration at;  // of the worker's last launch or step
  WorkerId worker;
  double part = 0;
};

// The workers, by what they do.
struct Ballot {
  Tally connected;
  Tally telling;
  Tally standing;
  absl::Duration threshold = absl::ZeroDuration();  // the longest of those that stand
  absl::Duration still_for = absl::InfiniteDuration();
  std::vector<Completion> others;  // of those that tell, and do not stand
  std::vector<Completion> silent;  // of those whose runtimes do not answer
};

struct Lately {
  Tally advancing;
  Tally idle;
};

Lately Divide(const std::vector<Completion>& completions, absl::Duration after) {
  Lately lately;
  for (const Completion& one : completions) {
    (one.at > after ? lately.advancing : lately.idle).Add(one.part);
  }
  return lately;
}

// Workers that have completed nothing for as long are idle: they wait for those that stand.
std::optional<std::string> WhyFewAdvance(const Ballot& ballot, const Lately& lately) {
  const auto& [advancing, idle] = lately;
  if (!IsMost(ballot.standing.votes + idle.votes, ballot.telling.votes)) return std::nullopt;
  if (AtLeast(advancing.votes, ballot.standing.votes)) return std::nullopt;
  if (advancing.workers == 0 || !AreExceptions(advancing, ballot.telling)) return std::nullopt;
  const WorkerId& who = std::max_element(ballot.others.begin(), ballot.others.end(),
                                         [](const auto& a, const auto& b) { return a.at < b.at; })
                            ->worker;
  return absl::StrCat(ballot.standing.workers, " of ", ballot.telling.workers,
                      " workers are in launches or steps that do not complete, while slice ",
                      who.slice, " task ", who.task,
                      advancing.workers > 1
                          ? absl::StrCat(" and ", advancing.workers - 1, " more advance")
                          : std::string(" alone advances"));
}

// Where all that tell stand, completions of late come from workers whose runtimes do not answer:
// those are the past, or lie.
std::optional<std::string> WhySilentAdvance(const Ballot& ballot, const Lately& lately) {
  if (!IsMost(ballot.standing.votes, ballot.connected.votes)) return std::nullopt;
  if (lately.advancing.workers == 0 || !AreExceptions(lately.advancing, ballot.connected)) {
    return std::nullopt;
  }
  return absl::StrCat(ballot.standing.workers, " of ", ballot.connected.workers,
                      " workers are in launches or steps that do not complete, and the others' "
                      "runtimes do not answer");
}

}  // namespace

std::optional<Standstill> JudgeMost(const std::map<WorkerId, WorkerProgress>& workers,
                                    const HostVotes& hosts, const Thresholds& thresholds,
                                    const Learning& learning, absl::Duration now) {
  const Measured measured = HowToMeasure(workers, hosts);
  if (measured == Measured::kByLines) return std::nullopt;
  Ballot ballot;
  const absl::Duration allowance = LongestAllowance(workers, thresholds, learning);
  for (const auto& [id, worker] : workers) {
    const double part = hosts.PartOf(id);
    const bool tells = Tells(worker, measured);
    if (worker.connected) ballot.connected.Add(part);
    if (tells) ballot.telling.Add(part);
    const std::optional<WorkerStanding> one =
        tells ? StandingOf(worker, measured, thresholds, learning) : std::nullopt;
    const absl::Duration bound =
        one.has_value() ? std::max(2 * one->threshold, allowance) : absl::InfiniteDuration();
    if (one.has_value() && now - one->since >= bound) {
      ballot.standing.Add(part);
      ballot.threshold = std::max(ballot.threshold, bound);
      ballot.still_for = std::min(ballot.still_for, now - one->since);
    } else if (worker.last_completion.has_value() && (tells || worker.connected)) {
      (tells ? ballot.others : ballot.silent).push_back({*worker.last_completion, id, part});
    }
  }
  const absl::Duration after = now - ballot.threshold;
  const std::optional<std::string> why =
      ballot.others.empty() ? WhySilentAdvance(ballot, Divide(ballot.silent, after))
                            : WhyFewAdvance(ballot, Divide(ballot.others, after));
  if (!why.has_value()) return std::nullopt;
  return Standstill{.threshold = ballot.threshold,
                    .still_for = ballot.still_for,
                    .why = *why,
                    .most_stand = true};
}

}  // namespace rapideye::coordinator
