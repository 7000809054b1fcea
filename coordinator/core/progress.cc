#include "coordinator/core/progress.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/host/pause.h"
#include "coordinator/core/limits.h"
#include "coordinator/core/measured.h"
#include "coordinator/core/most_stand.h"

namespace rapideye::coordinator {
namespace {

// The job as a whole, for one judgement.
struct Overview {
  Measured measured = Measured::kByLines;
  bool running = false;
  std::optional<absl::Duration> last_completion;
  std::optional<absl::Duration> first_seen;                // of the workers that run
  std::optional<absl::Duration> known_in_flight;           // earliest, program completed before
  std::optional<absl::Duration> unknown_in_flight;         // earliest, program never completed
  absl::Duration launch_threshold = absl::ZeroDuration();  // the longest of the known programs
  bool watched = true;  // every loop says that it makes a step or waits for input
  const WorkerProgress* pausing = nullptr;  // of the workers that announce a pause, the longest
  WorkerId who_pauses;
  absl::Duration allowance = absl::ZeroDuration();         // for that pause
  absl::Duration pause_ended = -absl::InfiniteDuration();  // the latest end of a pause
  absl::Duration ended_allowance = absl::ZeroDuration();   // for the pause that ended
};

const char* Announcement(Phase phase) {
  switch (phase) {
    case Phase::kCompile:
      return "a compilation";
    case Phase::kCheckpoint:
      return "a checkpoint";
    case Phase::kEval:
      return "an evaluation";
    case Phase::kUnspecified:
    case Phase::kInput:
    case Phase::kStep:
      break;
  }
  return "no pause";
}

void AddPhase(const WorkerId& id, const WorkerProgress& worker, const Thresholds& thresholds,
              const Learning& learning, Overview& overview) {
  overview.watched =
      overview.watched && (worker.phase == Phase::kStep || worker.phase == Phase::kInput);
  if (worker.paused_for.has_value() && worker.pause_ended > overview.pause_ended) {
    overview.pause_ended = worker.pause_ended;
    overview.ended_allowance = PauseAllowance(thresholds, learning, *worker.paused_for);
  }
  if (!worker.Pauses()) return;
  const absl::Duration allowance = PauseAllowance(thresholds, learning, *worker.phase);
  if (overview.pausing != nullptr && allowance <= overview.allowance) return;
  overview.pausing = &worker;
  overview.who_pauses = id;
  overview.allowance = allowance;
}

// Extends the threshold of the measure for an announced pause, unless the operator has set it.
Standstill Allow(Standstill measure, bool set, const Overview& job, absl::Duration now) {
  if (set) return measure;
  // After a pause the job needs its usual time to complete a launch.
  const absl::Duration paused = job.pause_ended - (now - measure.still_for);
  if (paused > absl::ZeroDuration()) measure.threshold += std::min(paused, job.ended_allowance);
  if (job.pausing == nullptr) return measure;
  measure.announced = true;
  measure.threshold = std::max(measure.threshold, job.allowance);
  absl::StrAppend(&measure.why, "; slice ", job.who_pauses.slice, " task ", job.who_pauses.task,
                  " announces ", Announcement(*job.pausing->phase));
  return measure;
}

bool RuntimeIsThere(const wire::Heartbeat& heartbeat) {
  return heartbeat.runtime.state == RuntimeState::kServing ||
         heartbeat.runtime.state == RuntimeState::kTimedOut;
}

// The number of steps that the worker has gone on since its last heartbeat, where no runtime tells
// of launches; by log lines 1 for any number of lines, which may stand for several steps each. 0 if
// the number is not known: a loop that restores a checkpoint goes back.
int64_t StepsSince(const WorkerProgress& known, int64_t agent, const wire::Heartbeat& heartbeat) {
  if (RuntimeIsThere(heartbeat) || known.process_incarnation != heartbeat.process_incarnation) {
    return 0;
  }
  const bool has_page = heartbeat.progress.has_value() && heartbeat.progress->step.has_value();
  if (has_page) {
    const bool comparable = known.step.has_value() && !known.ByLines();
    const int64_t step = *heartbeat.progress->step;
    return comparable && step > *known.step ? step - *known.step : 0;
  }
  // A new agent counts from the moment when it first saw the log.
  return heartbeat.step_lines.has_value() && known.ByLines() && known.agent_incarnation == agent &&
         heartbeat.step_lines->advances > *known.line_advances;
}

// When the worker last did anything but wait. An older agent tells of work as in health alone:
// there CPU time does not count, since a process that waits in a loop uses it, too.
std::optional<absl::Duration> AnyWorkAt(const wire::Heartbeat& heartbeat, absl::Duration now) {
  using Signal = wire::ProcessActivitySignal;
  if (heartbeat.since_any_work.has_value()) return now - *heartbeat.since_any_work;
  if (!heartbeat.activity.has_value()) return std::nullopt;
  const Signal signal = heartbeat.activity->signal;
  const bool exchange = signal == Signal::kTraffic || signal == Signal::kInputOutput;
  return exchange ? std::optional(now - heartbeat.activity->since_advance) : std::nullopt;
}

// True if work was seen since the worker's last heartbeat, and no better evidence exists.
bool WorkedSince(const WorkerProgress& known, int64_t agent, const wire::Heartbeat& heartbeat) {
  const bool better = RuntimeIsThere(heartbeat) || heartbeat.step_lines.has_value() ||
                      (heartbeat.progress.has_value() && heartbeat.progress->step.has_value());
  return !better && heartbeat.activity.has_value() && known.activity.has_value() &&
         known.agent_incarnation == agent &&
         heartbeat.activity->advances > known.activity->advances;
}

// A step completes when the next step begins, and a page shows the beginning.
void ObserveStep(int64_t agent, const wire::Heartbeat& heartbeat, absl::Duration now,
                 WorkerProgress& known) {
  known.step_took.reset();
  const int64_t steps = StepsSince(known, agent, heartbeat);
  const bool has_page = heartbeat.progress.has_value() && heartbeat.progress->step.has_value();
  if (!has_page && heartbeat.step_lines.has_value() && !RuntimeIsThere(heartbeat)) {
    const absl::Duration told = now - heartbeat.step_lines->since_advance;
    known.last_completion = std::max(known.last_completion.value_or(told), told);
    return;
  }
  if (steps == 0) return;
  const bool within = heartbeat.progress->phase == Phase::kStep;
  const absl::Duration completion =
      now - absl::Milliseconds(within ? heartbeat.progress->phase_ms.value_or(0) : 0);
  if (known.last_completion.has_value() && !known.Pauses() &&
      known.pause_ended < *known.last_completion) {
    known.step_took = std::max(completion - *known.last_completion, absl::ZeroDuration()) / steps;
  }
  known.last_completion = std::max(known.last_completion.value_or(completion), completion);
}

void Lower(std::optional<absl::Duration>& earliest, absl::Duration time) {
  earliest = std::min(earliest.value_or(time), time);
}

// The signal of most workers: the others may lack the better signals.
const char* NameOfActivity(const std::map<WorkerId, WorkerProgress>& workers) {
  using Signal = wire::ProcessActivitySignal;
  std::map<Signal, size_t> counts;
  for (const auto& [id, worker] : workers) {
    if (Tells(worker, Measured::kByActivity) && worker.activity.has_value()) {
      ++counts[worker.activity->signal];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return Name(Measured::kByActivity);
  switch (most->first) {
    case Signal::kTraffic:
      return "traffic of the training processes' connections";
    case Signal::kInputOutput:
      return "input and output of the training processes";
    case Signal::kCpuTime:
      return "CPU time of the training processes";
    case Signal::kUnspecified:
      break;
  }
  return Name(Measured::kByActivity);
}

bool AnyConnected(const std::map<WorkerId, WorkerProgress>& workers) {
  return std::any_of(workers.begin(), workers.end(),
                     [](const auto& entry) { return entry.second.connected; });
}

// A pause of three times the longest in health is taken for a hang.
absl::Duration BeyondLearnt(const Thresholds& thresholds, absl::Duration longest) {
  return std::min(kPauseFactor * longest, thresholds.longest_pause);
}

// The last time at which no connected worker only waited; absent if that is not known of any.
std::optional<absl::Duration> WorkOfAll(const std::map<WorkerId, WorkerProgress>& workers) {
  std::optional<absl::Duration> least;
  for (const auto& [id, worker] : workers) {
    if (!worker.connected) continue;
    if (!worker.any_work_at.has_value()) return std::nullopt;
    Lower(least, *worker.any_work_at);
  }
  return least;
}

// The startup grace, counted from `begin`, extended while any process works: the others wait for
// it, and on a busy machine a start takes several times as long. Work is over once half of the
// grace shows none, and excuses no more than a pause.
absl::Duration GraceOfStart(const std::map<WorkerId, WorkerProgress>& workers,
                            const Thresholds& thresholds, absl::Duration begin) {
  const absl::Duration grace = thresholds.startup_grace;
  absl::Duration worked = begin;
  for (const auto& [id, worker] : workers) {
    if (worker.connected && worker.any_work_at.has_value()) {
      worked = std::max(worked, *worker.any_work_at);
    }
  }
  return std::clamp(worked - begin + grace / 2, grace,
                    std::min(kPauseFactor * grace, std::max(grace, thresholds.longest_pause)));
}

// Extends a measure that knows of no step under way while all processes work: a long evaluation
// completes no step, exchanges little and reads little, and a hang silences at least those that
// wait. Work is over once half of the threshold shows none. All may retry in vain for ever, so work
// excuses no more than a pause.
Standstill WhileAllWork(Standstill measure, const std::map<WorkerId, WorkerProgress>& workers,
                        const Thresholds& thresholds, absl::Duration now) {
  const std::optional<absl::Duration> worked = WorkOfAll(workers);
  if (!worked.has_value()) return measure;
  const absl::Duration working = *worked - (now - measure.still_for) + measure.threshold / 2;
  if (working <= measure.threshold) return measure;
  const absl::Duration longest =
      std::min(std::max(kPauseFactor * measure.threshold, kMinWorkAllowance),
               std::max(measure.threshold, thresholds.longest_pause));
  measure.threshold = std::min(working, longest);
  absl::StrAppend(&measure.why, "; no training process only waits");
  return measure;
}

void AddInFlight(const WorkerProgress& worker, const Thresholds& thresholds,
                 const Learning& learning, Overview& overview) {
  // A launch without a reported program may be of any program: it gets no grace.
  const bool known = !worker.program.has_value() || learning.HasCompleted(*worker.program);
  if (!known) {
    Lower(overview.unknown_in_flight, *worker.in_flight_since);
    return;
  }
  Lower(overview.known_in_flight, *worker.in_flight_since);
  overview.launch_threshold =
      std::max(overview.launch_threshold, LaunchThreshold(thresholds, learning, worker.program));
}

}  // namespace

bool AreExceptions(const Tally& few, const Tally& all) {
  const auto least = [](double number) {
    constexpr double kLeast = 3;
    constexpr double kOneIn = 10;
    return AtLeast(number, kLeast) ? std::max(1.0, number / kOneIn) : 0;
  };
  return IsMost(all.votes - few.votes, all.votes) &&
         (AtLeast(least(all.votes), few.votes) ||
          AtLeast(least(static_cast<double>(all.workers)), static_cast<double>(few.workers)));
}

bool WorkerProgress::Pauses() const {
  return phase.has_value() && AnnouncesPause(*phase) && !in_flight_since.has_value();
}

absl::Duration LaunchThreshold(const Thresholds& thresholds, const Learning& learning,
                               const std::optional<std::string>& fingerprint) {
  if (thresholds.launch.has_value()) return *thresholds.launch;
  return std::clamp(kLaunchFactor * learning.LongestLaunch(fingerprint), kMinLaunchThreshold,
                    kMaxLaunchThreshold);
}

absl::Duration StepThreshold(const Thresholds& thresholds, const Learning& learning) {
  if (thresholds.launch.has_value()) return *thresholds.launch;
  // A page does not show the compilation that a step may hold.
  return std::clamp(kLaunchFactor * learning.LongestStep(), kMinWatchedHangThreshold,
                    kMaxLaunchThreshold);
}

absl::Duration StepLinesThreshold(const Thresholds& thresholds, const Learning& learning) {
  return std::max(HangThreshold(thresholds, learning), kPauseFactor * learning.LongestStepLines());
}

absl::Duration ActivityThreshold(const Thresholds& thresholds, const Learning& learning,
                                 absl::Duration longest_gap) {
  return std::max(HangThreshold(thresholds, learning),
                  kPauseFactor * std::min(longest_gap, kMaxLearntPause));
}

absl::Duration HangThreshold(const Thresholds& thresholds, const Learning& learning) {
  if (thresholds.hang.has_value()) return *thresholds.hang;
  return std::max(kMinHangThreshold, BeyondLearnt(thresholds, learning.LongestPause()));
}

absl::Duration WatchedHangThreshold(const Thresholds& thresholds, const Learning& learning) {
  if (thresholds.hang.has_value()) return *thresholds.hang;
  return std::max(kMinWatchedHangThreshold,
                  BeyondLearnt(thresholds, learning.LongestUnannouncedPause()));
}

absl::Duration PauseAllowance(const Thresholds& thresholds, const Learning& learning, Phase phase) {
  // Agents remember pauses of any kind; only the coordinator learns the kinds: after its restart
  // the longest pause of all stands in for a kind that has not been seen yet.
  absl::Duration longest = learning.LongestPhase(phase);
  if (longest == absl::ZeroDuration()) longest = learning.LongestPause();
  // The first compilation takes as long as a start, whose time the operator has stated.
  const absl::Duration least = phase == Phase::kCompile
                                   ? std::max(thresholds.startup_grace, kMinHangThreshold)
                                   : kMinHangThreshold;
  return std::min(std::max(kPauseFactor * longest, least), thresholds.longest_pause);
}

bool Progress::Advanced(const WorkerId& worker, int64_t agent_incarnation,
                        const wire::Heartbeat& heartbeat) const {
  const WorkerProgress* known = Find(worker);
  if (known == nullptr || !known->heard) return false;
  if (known->process_incarnation != heartbeat.process_incarnation) {
    return heartbeat.launches_completed > 0;
  }
  if (StepsSince(*known, agent_incarnation, heartbeat) > 0) return true;
  if (WorkedSince(*known, agent_incarnation, heartbeat)) return true;
  // A new agent counts from when it first saw the process: the counts cannot be compared.
  return known->agent_incarnation == agent_incarnation &&
         heartbeat.launches_completed > known->completed;
}

bool Progress::Observe(const WorkerId& worker, int64_t agent_incarnation,
                       const wire::Heartbeat& heartbeat, absl::Duration now) {
  const bool advanced = Advanced(worker, agent_incarnation, heartbeat);
  auto [entry, first] = workers_.try_emplace(worker);
  WorkerProgress& known = entry->second;
  if (!known.seen_since.has_value()) known.seen_since = now;
  ObserveStep(agent_incarnation, heartbeat, now, known);
  if (heartbeat.launches_completed > 0) {
    const absl::Duration completion =
        now - heartbeat.since_completion.value_or(absl::ZeroDuration());
    const bool told_again = !first && known.agent_incarnation == agent_incarnation &&
                            known.completed == heartbeat.launches_completed;
    if (!told_again || !known.last_completion.has_value()) {
      known.last_completion = std::max(known.last_completion.value_or(completion), completion);
    } else if (heartbeat.since_completion.has_value()) {
      // Both report the same launch: the smaller age has waited less on its way.
      known.last_completion = std::min(*known.last_completion, completion);
    }
  }
  known.activity = heartbeat.activity;
  known.active_at.reset();
  if (heartbeat.activity.has_value()) {
    known.active_at = now - heartbeat.activity->since_advance;
  }
  known.any_work_at = AnyWorkAt(heartbeat, now);
  known.heard = true;
  known.connected = true;
  known.start_up = heartbeat.start_up;
  known.runtime_answers = RuntimeIsThere(heartbeat);
  known.agent_incarnation = agent_incarnation;
  known.process_incarnation = heartbeat.process_incarnation;
  known.completed = heartbeat.launches_completed;
  const std::optional<Phase> pause = known.Pauses() ? known.phase : std::nullopt;
  known.program.reset();
  known.phase.reset();
  known.step.reset();
  known.line_advances.reset();
  if (heartbeat.progress.has_value()) {
    known.phase = heartbeat.progress->phase;
    known.step = heartbeat.progress->step;
  }
  if (!known.step.has_value() && heartbeat.step_lines.has_value()) {
    known.step = heartbeat.step_lines->step;
    known.line_advances = heartbeat.step_lines->advances;
  }
  if (!heartbeat.launch_in_flight) {
    known.in_flight_since.reset();
  } else {
    if (!known.in_flight_since.has_value()) known.in_flight_since = now;
    if (!heartbeat.queue.empty()) known.program = heartbeat.queue.front().fingerprint;
  }
  if (pause.has_value() && !known.Pauses()) {
    known.paused_for = pause;
    known.pause_ended = now;
  }
  return advanced;
}

void Progress::Disconnected(const WorkerId& worker) {
  hosts_.Leave(worker);
  auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  found->second.connected = false;
  found->second.in_flight_since.reset();
}

std::optional<Standstill> Progress::Judge(const Thresholds& thresholds, const Learning& learning,
                                          absl::Duration now) const {
  std::optional<Standstill> measure = Measure(thresholds, learning, now);
  if (measure.has_value() && measure->still_for < measure->threshold) measure.reset();
  if (!measure.has_value()) {
    measure = JudgeMost(workers_, hosts_, thresholds, learning, now);
  }
  if (!measure.has_value()) return JudgeEach(workers_, hosts_, thresholds, learning, now);
  if (measure->most_stand) return measure;
  measure->most_stand = MostStandSince(now - 2 * measure->threshold);
  return measure;
}

bool Progress::MostStandSince(absl::Duration moment) const {
  const Measured measured = HowToMeasure(workers_, hosts_);
  Tally all;
  Tally moved;
  for (const auto& [id, worker] : workers_) {
    if (!Tells(worker, measured)) continue;
    all.Add(PartOf(id));
    const std::optional<absl::Duration>& last =
        measured == Measured::kByActivity ? worker.active_at : worker.last_completion;
    if (last.has_value() && *last > moment) moved.Add(PartOf(id));
  }
  return AreExceptions(moved, all);
}

std::optional<Standstill> Progress::MeasureIdleStart(const Thresholds& thresholds,
                                                     absl::Duration begin,
                                                     absl::Duration now) const {
  if (Running() > 0 || LastWork().has_value()) return std::nullopt;
  const absl::Duration idle = thresholds.startup_grace / 2;
  std::optional<absl::Duration> last;  // work of those that only wait
  double connected = 0;
  double waiting = 0;
  bool all = true;
  for (const auto& [id, worker] : workers_) {
    if (!worker.connected) continue;
    connected += PartOf(id);
    // A worker that does not tell may work, but must not silence the others.
    if (!worker.any_work_at.has_value() || now - *worker.any_work_at < idle) {
      all = false;
      continue;
    }
    waiting += PartOf(id);
    last = std::max(last.value_or(*worker.any_work_at), *worker.any_work_at);
  }
  if (!last.has_value() || !AtLeast(2 * waiting, connected)) return std::nullopt;
  const absl::Duration grace =
      all ? thresholds.startup_grace : GraceOfStart(workers_, thresholds, begin);
  if (now - begin < grace) return std::nullopt;
  return Standstill{.threshold = idle,
                    .still_for = now - *last,
                    .why = all ? "no step was seen since the job started, and every process waits"
                               : "no step was seen since the job started, and most processes wait",
                    .noticed_by = Name(Measured::kByActivity)};
}

std::optional<absl::Duration> Progress::LastWork() const {
  if (HowToMeasure(workers_, hosts_) != Measured::kByActivity) return std::nullopt;
  std::multimap<absl::Duration, double, std::greater<>> times;  // and votes
  double connected = 0;
  double told = 0;
  for (const auto& [id, worker] : workers_) {
    connected += worker.connected ? PartOf(id) : 0;
    if (!Tells(worker, Measured::kByActivity)) continue;
    times.emplace(*worker.active_at, PartOf(id));
    told += PartOf(id);
  }
  if (times.empty() || !AtLeast(2 * told, connected)) return std::nullopt;
  double later = 0;
  for (const auto& [time, votes] : times) {
    later += votes;
    if (IsMost(later, told)) return time;
  }
  return times.rbegin()->first;
}

std::optional<absl::Duration> Progress::LastCompletion() const {
  std::optional<absl::Duration> last;
  for (const auto& [id, worker] : workers_) {
    if (worker.last_completion.has_value()) {
      last = std::max(last.value_or(*worker.last_completion), *worker.last_completion);
    }
  }
  return last;
}

// Measures the work of the processes, where no other evidence of progress exists.
std::optional<Standstill> Progress::MeasureWork(const Thresholds& thresholds,
                                                const Learning& learning,
                                                absl::Duration now) const {
  const std::optional<absl::Duration> last = LastWork();
  if (!last.has_value()) return std::nullopt;
  absl::Duration longest = absl::ZeroDuration();
  std::optional<absl::Duration> first_seen;
  bool exchanges = false;
  for (const auto& [id, worker] : workers_) {
    if (worker.seen_since.has_value()) Lower(first_seen, *worker.seen_since);
    if (!worker.activity.has_value()) continue;
    exchanges |= worker.activity->signal == wire::ProcessActivitySignal::kTraffic;
    longest = std::max(longest, worker.activity->longest.value_or(absl::ZeroDuration()));
  }
  if (!first_seen.has_value()) return std::nullopt;
  // Steps of several workers exchange something: before any traffic the job may still start.
  const absl::Duration grace =
      exchanges ? thresholds.startup_grace : GraceOfStart(workers_, thresholds, *first_seen);
  const absl::Duration grace_left = *first_seen + grace - *last;
  const Standstill working{
      .threshold = ActivityThreshold(thresholds, learning, longest),
      .still_for = now - *last,
      .why = "neither traffic nor input, output or CPU time shows that half of the processes work",
      .noticed_by = NameOfActivity(workers_)};
  Standstill measure = WhileAllWork(working, workers_, thresholds, now);
  measure.threshold = std::max(measure.threshold, grace_left);
  return measure;
}

std::optional<Standstill> Progress::Measure(const Thresholds& thresholds, const Learning& learning,
                                            absl::Duration now) const {
  Overview job;
  job.last_completion = LastCompletion();
  job.measured = HowToMeasure(workers_, hosts_);
  if (job.measured == Measured::kByActivity) return MeasureWork(thresholds, learning, now);
  const auto since = [&](absl::Duration begin, absl::Duration threshold, const char* why) {
    return Standstill{.threshold = threshold,
                      .still_for = now - begin,
                      .why = why,
                      .noticed_by = Name(job.measured)};
  };
  for (const auto& [id, worker] : workers_) {
    if (!Tells(worker, job.measured)) continue;
    job.running = true;
    if (worker.seen_since.has_value()) Lower(job.first_seen, *worker.seen_since);
    if (worker.in_flight_since.has_value()) AddInFlight(worker, thresholds, learning, job);
    AddPhase(id, worker, thresholds, learning, job);
  }
  if (!job.running || !job.first_seen.has_value() || !AnyConnected(workers_)) return std::nullopt;
  const bool by_steps = job.measured != Measured::kByLaunches;
  const bool learnt =
      job.measured != Measured::kByPages || learning.LongestStep() > absl::ZeroDuration();
  if (!job.last_completion.has_value() || !learnt) {
    const absl::Duration begin = job.last_completion.value_or(*job.first_seen);
    if (!by_steps) {
      return since(begin, thresholds.startup_grace,
                   "no launch has completed since the job started");
    }
    return since(begin, GraceOfStart(workers_, thresholds, begin),
                 "fewer than two steps have completed since the job started");
  }
  const absl::Duration last = *job.last_completion;
  if (job.known_in_flight.has_value()) {
    return Allow(since(std::max(last, *job.known_in_flight), job.launch_threshold,
                       "launches have started and none completes"),
                 thresholds.launch.has_value(), job, now);
  }
  if (job.unknown_in_flight.has_value()) {
    return since(std::max(last, *job.unknown_in_flight), thresholds.startup_grace,
                 "the first launch of a new program does not complete");
  }
  if (job.measured == Measured::kByLines) {
    const Standstill measure = Allow(
        since(last, StepLinesThreshold(thresholds, learning), "the log tells of no further step"),
        thresholds.hang.has_value(), job, now);
    return WhileAllWork(measure, workers_, thresholds, now);
  }
  if (by_steps && job.watched) {
    return Allow(since(last, StepThreshold(thresholds, learning),
                       "the training loops are within a step, and none completes"),
                 thresholds.launch.has_value(), job, now);
  }
  const absl::Duration hang = job.watched ? WatchedHangThreshold(thresholds, learning)
                                          : HangThreshold(thresholds, learning);
  const Standstill measure =
      Allow(since(last, hang, "nothing is running"), thresholds.hang.has_value(), job, now);
  return by_steps ? WhileAllWork(measure, workers_, thresholds, now) : measure;
}

bool Progress::GoesOnSince(absl::Duration moment) const {
  bool any = false;
  for (const auto& [id, worker] : workers_) {
    if (!worker.Shown() || !worker.last_completion.has_value()) continue;
    if (*worker.last_completion < moment) return false;
    any = true;
  }
  return any;
}

const WorkerProgress* Progress::Find(const WorkerId& worker) const {
  auto found = workers_.find(worker);
  return found == workers_.end() ? nullptr : &found->second;
}

size_t Progress::Running() const {
  return static_cast<size_t>(std::count_if(workers_.begin(), workers_.end(),
                                           [](const auto& entry) { return entry.second.Shown(); }));
}

double Progress::Told() const {
  double told = 0;
  for (const auto& [id, worker] : workers_) {
    if (worker.Shown() || Tells(worker, Measured::kByActivity)) told += PartOf(id);
  }
  return told;
}

void Progress::Forget() {
  for (auto& [id, worker] : workers_) {
    worker.last_completion.reset();
    worker.in_flight_since.reset();
    worker.program.reset();
    worker.phase.reset();
    worker.step.reset();
    worker.line_advances.reset();
    worker.activity.reset();
    worker.active_at.reset();
    worker.paused_for.reset();
    worker.seen_since.reset();
  }
}

}  // namespace rapideye::coordinator
