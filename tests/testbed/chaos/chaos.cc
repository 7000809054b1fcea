#include "tests/testbed/chaos/chaos.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/testbed/launcher/experiment.h"
#include "tests/testbed/launcher/job.h"
#include "tests/testbed/launcher/scenario.h"

namespace rapideye::testbed {
namespace {

// Time for a start or for a return to the coordinator (its agents wait up to 15 s), on
// a busy machine.
constexpr absl::Duration kPatience = absl::Seconds(60);
// Time that a verdict may take beyond its thresholds.
constexpr absl::Duration kVerdictPatience = absl::Seconds(45);
constexpr absl::Duration kLookInterval = absl::Seconds(1);
constexpr absl::Duration kMemoryInterval = absl::Seconds(5);
// A hang may be disturbed until so long after its threshold.
constexpr absl::Duration kDisturbedFor = absl::Seconds(3);
// A job that hangs has run before: so many steps since its last restart.
constexpr int64_t kStepsBeforeHang = 30;
constexpr int64_t kStepsAfterHang = 5;
// Times between events: exponential, within these factors of the mean.
constexpr double kShortest = 0.1;
constexpr double kLongest = 4;

// Faults that heal without a trace.
constexpr const char* kHangs[] = {"bad-chip",  "bad-chip-tail", "core-loop", "program-not-queued",
                                  "input-dry", "link-cut",      "host-cut",  "process-stop"};

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<uint64_t>(limit)); }
  // In [0, 1).
  double Share() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }
  absl::Duration About(absl::Duration mean) {
    return mean * std::clamp(-std::log1p(-Share()), kShortest, kLongest);
  }
  Ending How() { return Below(2) == 0 ? Ending::kAsked : Ending::kKilled; }

 private:
  std::mt19937_64 engine_;
};

const char* Name(Ending how) { return how == Ending::kAsked ? "asked" : "killed"; }

class Chaos {
 public:
  Chaos(const ChaosOptions& options, std::unique_ptr<Job> job)
      : options_(options),
        job_(std::move(job)),
        dice_(options.seed),
        workers_(AllWorkers(options.job.shape)),
        began_(absl::Now()) {}

  ChaosOutcome Run();

 private:
  // One kind of event: when it is due, and what then happens.
  struct Event {
    absl::Duration mean;
    absl::Status (Chaos::*happen)();
    absl::Time due;
  };

  template <typename... Parts>
  void Say(const Parts&... parts) const;

  void Count(absl::string_view what, Ending how) {
    ++outcome_.restarts[absl::StrCat(what, ", ", Name(how))];
  }

  absl::Status Live();

  // Lets time pass, looks for false alarms and at memory, brings back the daemons that are due.
  absl::Status WatchUntil(absl::Time until);

  // Starts the daemons that are due again, or all.
  absl::Status BringBack(bool all);

  // Waits until all daemons are there and know each other, and the job advances.
  absl::Status Settle();
  void LookAtMemory();
  void LookForFalseAlarms();

  // Events -------------------------------------------------------------------

  // One agent is never restarted: its memory over the whole run shows whether an agent grows.
  absl::Status LoseAgent();
  absl::Status LoseCoordinator();
  absl::Status RestartJob();
  absl::Status Hang();

  // Now and then ends daemons in the midst of a hang, before or after the digest.
  absl::Status Disturb();
  absl::Status JudgeHang(const Truth& truth);
  void Happens(std::string what);

  const ChaosOptions& options_;
  std::unique_ptr<Job> job_;
  Dice dice_;
  const std::vector<WorkerId> workers_;
  const absl::Time began_;
  std::map<WorkerId, absl::Time> agents_back_;
  std::optional<absl::Time> coordinator_back_;  // absent: it is there
  absl::Time next_look_ = absl::InfinitePast();
  size_t seen_ = 0;  // incidents
  bool hanging_ = false;
  std::string last_ = "the start";
  ChaosOutcome outcome_;
};

ChaosOutcome Chaos::Run() {
  const absl::Status end = Live();
  outcome_.ran = absl::Now() - began_;
  if (!end.ok() && !absl::IsCancelled(end)) outcome_.crash = end.ToString();
  const absl::Status stopped = job_->Stop();
  if (outcome_.crash.empty() && !stopped.ok()) outcome_.crash = stopped.ToString();
  return std::move(outcome_);
}

template <typename... Parts>
void Chaos::Say(const Parts&... parts) const {
  if (options_.narration == nullptr) return;
  *options_.narration << absl::StreamFormat("[%7.1f s] ",
                                            absl::ToDoubleSeconds(absl::Now() - began_))
                      << absl::StrCat(parts...) << std::endl;
}

absl::Status Chaos::Live() {
  Event events[] = {{options_.agents, &Chaos::LoseAgent, {}},
                    {options_.jobs, &Chaos::RestartJob, {}},
                    {options_.coordinators, &Chaos::LoseCoordinator, {}},
                    {options_.hangs, &Chaos::Hang, {}}};
  for (Event& event : events) event.due = absl::Now() + dice_.About(event.mean);
  const absl::Time end = began_ + options_.duration;
  while (absl::Now() < end) {
    Event& next = *std::min_element(std::begin(events), std::end(events),
                                    [](const Event& a, const Event& b) { return a.due < b.due; });
    if (absl::Status s = WatchUntil(std::min(next.due, end)); !s.ok()) return s;
    if (absl::Now() < next.due) continue;
    if (absl::Status s = (this->*next.happen)(); !s.ok()) return s;
    next.due = absl::InfinitePast();
    // Events that fell due meanwhile must not all happen at once now.
    for (Event& event : events) {
      if (event.due < absl::Now()) event.due = absl::Now() + dice_.About(event.mean);
    }
  }
  return Settle();  // what the last event has begun is seen to its end
}

absl::Status Chaos::WatchUntil(absl::Time until) {
  do {
    const absl::Duration left = until - absl::Now();
    if (absl::Status s = job_->Watch(std::clamp(left, absl::ZeroDuration(), kLookInterval));
        !s.ok()) {
      return s;
    }
    if (absl::Status s = BringBack(/*all=*/false); !s.ok()) return s;
    LookAtMemory();
    LookForFalseAlarms();
  } while (absl::Now() < until);
  return absl::OkStatus();
}

absl::Status Chaos::BringBack(bool all) {
  const absl::Time now = absl::Now();
  for (auto worker = agents_back_.begin(); worker != agents_back_.end();) {
    if (!all && worker->second > now) {
      ++worker;
      continue;
    }
    if (absl::Status s = job_->StartAgent(worker->first); !s.ok()) return s;
    worker = agents_back_.erase(worker);
  }
  if (!coordinator_back_.has_value() || (!all && *coordinator_back_ > now)) {
    return absl::OkStatus();
  }
  coordinator_back_.reset();
  return job_->StartCoordinator();
}

absl::Status Chaos::Settle() {
  if (absl::Status s = BringBack(/*all=*/true); !s.ok()) return s;
  if (absl::Status s = job_->AwaitAllConnected(kPatience); !s.ok()) return s;
  return job_->AwaitStep(job_->StepOfSlowest() + kStepsAfterHang, kPatience);
}

void Chaos::LookAtMemory() {
  if (absl::Now() < next_look_) return;
  next_look_ = absl::Now() + kMemoryInterval;
  for (const auto& [name, pid] : job_->Daemons()) {
    const absl::StatusOr<Usage> usage = UsageOf(pid);
    if (usage.ok()) outcome_.memory.Add(name, pid, absl::Now() - began_, *usage);
  }
}

void Chaos::LookForFalseAlarms() {
  if (hanging_) return;
  const std::vector<std::string> incidents = job_->Incidents();
  for (; seen_ < incidents.size(); ++seen_) {
    outcome_.false_alarms.push_back(absl::StrCat(incidents[seen_], " after ", last_));
    Say("FALSE ALARM: ", outcome_.false_alarms.back());
  }
}

absl::Status Chaos::LoseAgent() {
  const WorkerId worker = workers_[1 + dice_.Below(static_cast<int>(workers_.size()) - 1)];
  const Ending how = dice_.How();
  if (agents_back_.contains(worker)) return absl::OkStatus();
  const absl::Duration away = dice_.Share() * options_.away;
  Happens(absl::StrCat("the agent of ", HostName(worker), " is ", Name(how)));
  Count("agents", how);
  if (absl::Status s = job_->EndAgent(worker, how); !s.ok()) return s;
  agents_back_[worker] = absl::Now() + away;
  return absl::OkStatus();
}

absl::Status Chaos::LoseCoordinator() {
  const Ending how = dice_.How();
  if (coordinator_back_.has_value()) return absl::OkStatus();
  Happens(absl::StrCat("the coordinator is ", Name(how)));
  Count("coordinator", how);
  if (absl::Status s = job_->EndCoordinator(how); !s.ok()) return s;
  coordinator_back_ = absl::Now() + dice_.Share() * options_.away;
  return absl::OkStatus();
}

absl::Status Chaos::RestartJob() {
  const Ending how = dice_.How();
  Happens(absl::StrCat("the job restarts, its workers are ", Name(how)));
  Count("job", how);
  if (absl::Status s = job_->EndJob(how); !s.ok()) return s;
  // Some platforms start the job again at once, others take their time.
  const absl::Duration gap =
      dice_.Below(2) == 0 ? absl::ZeroDuration() : dice_.Share() * options_.away;
  if (absl::Status s = WatchUntil(absl::Now() + gap); !s.ok()) return s;
  return job_->StartNextJob();
}

absl::Status Chaos::Hang() {
  if (absl::Status s = job_->AwaitStep(kStepsBeforeHang, kPatience); !s.ok()) return s;
  if (absl::Status s = Settle(); !s.ok()) return s;
  LookForFalseAlarms();
  const std::string name = kHangs[dice_.Below(static_cast<int>(std::size(kHangs)))];
  const Injection injection =
      FindScenario(name)->plan({.shape = options_.job.shape,
                                .programs = options_.job.programs,
                                .offload = false,
                                .pipeline = options_.job.pipeline,
                                .seed = static_cast<uint64_t>(dice_.Below(1 << 20)),
                                .step = job_->StepOfSlowest()});
  Happens(absl::StrCat("hang ", ++outcome_.hangs, ": ", name, ", ", injection.description));
  hanging_ = true;
  if (absl::Status s = Inject(*job_, injection); !s.ok()) return s;
  if (absl::Status s = Disturb(); !s.ok()) return s;
  if (absl::Status s = JudgeHang(injection.truth); !s.ok()) return s;
  hanging_ = false;
  // Long enough for a second digest of the same hang, if there were to be one.
  if (absl::Status s = WatchUntil(absl::Now() + LaunchThreshold(options_.job)); !s.ok()) return s;
  if (absl::Status s = job_->Heal(); !s.ok()) return s;
  Happens("it heals");
  return job_->AwaitStep(job_->StepOfSlowest() + kStepsAfterHang, kPatience);
}

absl::Status Chaos::Disturb() {
  const int what = dice_.Below(4);
  const absl::Duration after = dice_.Share() * (LaunchThreshold(options_.job) + kDisturbedFor);
  if (what > 1) return absl::OkStatus();
  if (absl::Status s = WatchUntil(absl::Now() + after); !s.ok()) return s;
  if (absl::Status s = what == 0 ? LoseCoordinator() : LoseAgent(); !s.ok()) return s;
  ++outcome_.disturbed;
  if (absl::Status s = WatchUntil(absl::Now() + options_.away); !s.ok()) return s;
  return job_->AwaitAllConnected(kPatience);
}

absl::Status Chaos::JudgeHang(const Truth& truth) {
  const absl::Duration patience =
      std::max(LaunchThreshold(options_.job), HangThreshold(options_.job)) + kVerdictPatience;
  const absl::StatusOr<std::string> directory = job_->AwaitIncident(patience, seen_);
  if (absl::IsDeadlineExceeded(directory.status())) {
    outcome_.missed.push_back(last_);
    Say("MISSED: ", last_);
    return absl::OkStatus();
  }
  if (!directory.ok()) return directory.status();
  ++seen_;
  const absl::StatusOr<Incident> incident = ReadIncident(*directory);
  if (!incident.ok()) return incident.status();
  const std::vector<std::string> differences = Differences(truth, incident->finding);
  if (differences.empty()) {
    ++outcome_.verdicts_right;
    Say("raised: ", Describe(incident->finding));
  } else {
    outcome_.wrong.push_back(
        absl::StrCat(*directory, ", ", last_, ": ", absl::StrJoin(differences, "; ")));
    Say("WRONG: ", outcome_.wrong.back());
  }
  return absl::OkStatus();
}

void Chaos::Happens(std::string what) {
  Say(what);
  last_ = std::move(what);
}

void AppendAll(absl::string_view heading, const std::vector<std::string>& items,
               std::string& report) {
  absl::StrAppend(&report, heading, items.empty() ? "none" : "", "\n");
  for (const std::string& item : items) absl::StrAppend(&report, "  ", item, "\n");
}

}  // namespace

absl::StatusOr<ChaosOutcome> RunChaos(const ChaosOptions& options) {
  absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(options.job);
  if (!job.ok()) return job.status();
  if (absl::Status s = (*job)->AwaitAllConnected(kPatience); !s.ok()) return s;
  return Chaos(options, *std::move(job)).Run();
}

std::string Report(const ChaosOutcome& outcome) {
  std::string report = absl::StrCat(
      "ran:           ", absl::FormatDuration(absl::Trunc(outcome.ran, absl::Seconds(1))), "\n");
  for (const auto& [what, count] : outcome.restarts) {
    absl::StrAppend(&report, "restarts:      ", count, " of ", what, "\n");
  }
  absl::StrAppend(&report, "hangs:         ", outcome.hangs, ", of which ", outcome.verdicts_right,
                  " raised once with the right verdict; ", outcome.disturbed,
                  " while a daemon restarted\n");
  AppendAll("false alarms:  ", outcome.false_alarms, report);
  AppendAll("missed hangs:  ", outcome.missed, report);
  AppendAll("wrong verdict: ", outcome.wrong, report);
  absl::StrAppend(&report, "crash:         ", outcome.crash.empty() ? "none" : outcome.crash, "\n");
  absl::StrAppend(&report, "\n", outcome.memory.Table(),
                  outcome.Passed() ? "PASSED\n" : "FAILED\n");
  return report;
}

}  // namespace rapideye::testbed
