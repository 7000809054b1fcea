// No hang: most cores completed a launch a short while ago, or nothing runs
// because the hosts that others wait for compile, evaluate or write a checkpoint.
//
// Facts: for how long each core has completed no launch; the phase that the training loop
// reports, the steps that logs tell, stacks.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "classifier/errors/restarts.h"
#include "classifier/findings/facts.h"
#include "classifier/host/host_place.h"
#include "classifier/host/pause.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// Adds the places of the training loops by their own reports: a fact for each phase.
void AddLoops(const Case& c, Finding& finding) {
  std::map<Phase, std::vector<int>> workers;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot != nullptr && snapshot->progress.has_value()) {
      workers[snapshot->progress->phase].push_back(i);
    }
  }
  for (const auto& [phase, group] : workers) {
    LoopsAre fact;
    fact.workers = &group;
    fact.phase = phase;
    fact.by_logs = phase == Phase::kUnspecified;
    for (int worker : group) {
      const Progress& progress = *c.worker(worker).snapshot->progress;
      fact.by_logs = fact.by_logs && progress.step_ms.has_value();
      if (!progress.step.has_value()) continue;
      fact.first_step = std::min(fact.first_step.value_or(*progress.step), *progress.step);
      fact.last_step = std::max(fact.last_step.value_or(*progress.step), *progress.step);
    }
    finding.evidence.push_back(Evidence(c, Strength::kStrong, fact));
  }
}

void Report(const Case& c, Detail detail, double confidence, const Fact& why, Findings& out) {
  Finding finding;
  finding.basis = Basis::kPause;
  finding.cause = Cause::kNoHang;
  finding.detail = detail;
  finding.confidence = confidence;
  finding.why = FactText(c, why);
  // It speaks for the job, whichever workers show it.
  finding.evidence.push_back(Evidence(c, Strength::kStrong, {}, finding.why));
  AddLoops(c, finding);
  out.Add(std::move(finding));
}

// The time for which a core has stood without completing a launch.
std::optional<int64_t> StoodMs(const Unit& unit) {
  return unit.stuck_ms.has_value() ? unit.stuck_ms : unit.frozen_ms;
}

// Only launches that the chip itself has completed since the error contradict an error of that
// chip; after an error of a process, its cores still complete launches that were queued before.
bool WentOnAfter(const Case& c, const ErrorEvent& event) {
  switch (event.kind) {
    case ErrorKind::kExit:
    case ErrorKind::kStopped:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kHostToDevice:
    case ErrorKind::kDeviceToHost:
    case ErrorKind::kCopyUnclear:
    case ErrorKind::kException:
    // Between a notice and the end of the worker, its cores work on.
    case ErrorKind::kPreempted:
      return false;
    default:
      break;
  }
  const auto [first, last] = c.positions.UnitsOf(event.worker);
  for (int u = first; u < last; ++u) {
    const Unit& unit = c.positions.unit(u);
    if (event.chip && unit.core->chip && event.chip != unit.core->chip) continue;
    const auto stood = StoodMs(unit);
    if (stood && event.age_ms && *stood + kAgeErrorMs < *event.age_ms) return true;
  }
  // The kernel also reports errors that it has mended.
  return event.kind == ErrorKind::kKernelHardware && !event.age_ms;
}

// A worker that failed outright, and completed nothing since, stops the job
// however recent its peers' last launches are.
bool SomebodyFailed(const Case& c) {
  // A worker that went on after its error may have ended since.
  const auto has_ended = [&c](int worker) {
    return std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                       [worker](const ErrorEvent& e) {
                         return e.worker == worker && e.kind == ErrorKind::kExit && !e.succeeded;
                       });
  };
  return std::any_of(c.timeline.roots.begin(), c.timeline.roots.end(), [&](int root) {
    const ErrorEvent& event = c.timeline.errors[static_cast<size_t>(root)];
    return !WentOnAfter(c, event) || has_ended(event.worker);
  });
}

// A collective ended because a peer's process had gone: steps made until then are the past,
// although the peer that left, with status 0 or without a word, has not failed by itself.
bool CollectiveLostAPeer(const Case& c) {
  if (c.capture.header.trigger != "exit") return false;
  const auto lost = [](const LogEvent& event) {
    return event.kind == LogKind::kFollowOn && text::Contains(event.text, "RuntimeError: ") &&
           (text::Contains(event.text, "closed by peer") ||
            text::Contains(event.text, "reset by peer"));
  };
  return std::any_of(
      c.capture.snapshots.begin(), c.capture.snapshots.end(), [&](const Snapshot& snapshot) {
        return std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(), lost);
      });
}

// True for an end of any kind: a worker that followed another has ended, too.
bool SomebodyEnded(const Case& c) {
  return std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(), [](const ErrorEvent& e) {
    return e.kind == ErrorKind::kExit && !e.succeeded;
  });
}

// A process that ended because of others, or of its own watchdog, makes no more steps: those that
// it made until then are the past.
bool SomebodyFollowed(const Case& c) {
  return std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(), [&c](const ErrorEvent& e) {
    if (e.kind != ErrorKind::kExit || !e.of_victim) return false;
    const Snapshot* snapshot = c.worker(e.worker).snapshot;
    return snapshot != nullptr &&
           std::none_of(snapshot->processes.begin(), snapshot->processes.end(), IsAlive);
  });
}

// The cores that tell whether they advance, and those of them that have completed a launch of late.
struct Advances {
  int telling = 0;
  int recent = 0;

  bool Most() const { return telling > 0 && recent > kAdvancingShare * telling; }
};

Advances CountAdvances(const Case& c, RuntimeState answers) {
  Advances found;
  // An operator's question: the threshold must have passed. An alarm: it had passed before.
  const bool asked = c.capture.header.trigger == "operator";
  const auto threshold = static_cast<double>(c.threshold_ms);
  const double bar = (asked ? 1.0 : kRecentShareOfThreshold) * threshold;
  // A pc that came to where it stands within the threshold has completed nothing by that: the
  // launch in which it stands may have begun long after the last one ended.
  const double bar_by_pc = (asked ? 1.0 : kStepShareOfThreshold) * threshold;
  int worker = -1;
  std::optional<int64_t> started;  // the process of that worker; units of one worker are neighbours
  for (const Unit& unit : c.positions.units()) {
    const Snapshot* snapshot = c.worker(unit.worker).snapshot;
    if (std::exchange(worker, unit.worker) != unit.worker) started = StartedMsAgo(*snapshot);
    if (snapshot->runtime.state != answers) continue;
    const std::optional<int64_t> stood = StoodMs(unit);
    if (!stood.has_value()) continue;
    ++found.telling;
    // A core that stands since its process began ended no launch, or that of the process before.
    if (started && *started <= *stood + kCollectionSpreadMs) continue;
    const bool recent = static_cast<double>(*stood) < (unit.stuck_ms.has_value() ? bar : bar_by_pc);
    found.recent += recent ? 1 : 0;
  }
  return found;
}

void Advancing(const Case& c, Findings& out) {
  Advances advances = CountAdvances(c, RuntimeState::kServing);
  // A busy host answers late. Who asks about cores that were seen to advance within the threshold
  // asks about a job that no hang is known of, whatever they do since.
  if (advances.telling == 0 && c.capture.header.trigger == "operator") {
    advances = CountAdvances(c, RuntimeState::kTimedOut);
  }
  if (!advances.Most()) return;
  if (SomebodyFailed(c)) {
    out.Note(c, FailedSince{Advance::kLaunches});
    return;
  }
  Report(c, Detail::kRunning, kConfidenceAdvancing, CoresAdvance{advances.recent, advances.telling},
         out);
}

// Decides where no core reports: by the pages of training loops that make steps.
void LoopsAdvancing(const Case& c, Findings& out) {
  const int64_t within_ms = std::min(c.threshold_ms, kLoopMovesWithinMs);
  const bool asked = c.capture.header.trigger == "operator";
  int64_t telling = 0;
  int64_t recent = 0;
  std::optional<int64_t> at;         // the furthest step that a loop has entered of late
  std::optional<int64_t> just_made;  // the one before the furthest that one has just entered
  std::vector<int64_t> between;
  for (const WorkerInfo& worker : c.topology.workers()) {
    if (worker.snapshot == nullptr || !worker.snapshot->progress.has_value()) continue;
    const Progress& progress = *worker.snapshot->progress;
    if (!progress.step.has_value()) continue;
    const bool is_between = progress.phase == Phase::kUnspecified;
    if (is_between && !progress.phase_ms.has_value()) between.push_back(*progress.step);
    if (!progress.phase_ms.has_value()) continue;
    // A loop that makes steps enters step and input anew each time. Who asks about a job that has
    // just begun to evaluate or to save after a step asks about one that advances.
    const bool makes_steps = progress.phase == Phase::kStep || progress.phase == Phase::kInput;
    const bool rests = progress.phase == Phase::kEval || progress.phase == Phase::kCheckpoint;
    const bool has_just_made_one = asked && rests && *progress.phase_ms < kJustEnteredMs;
    if (!makes_steps && !has_just_made_one && !is_between) continue;
    ++telling;
    if (*progress.phase_ms >= within_ms) continue;
    ++recent;
    if (is_between) continue;  // it has entered nothing
    at = std::max(at.value_or(*progress.step), *progress.step);
    if (*progress.phase_ms < kJustEnteredMs) {
      just_made = std::max(just_made.value_or(*progress.step - 1), *progress.step - 1);
    }
  }
  // Between two phases a page may have no time; but no loop enters a step before all loops have
  // made the step before.
  for (const int64_t step : between) {
    ++telling;
    if ((at.has_value() && step >= *at) || (just_made.has_value() && step >= *just_made)) ++recent;
  }
  // All loops that report must advance: a worker without a report may be the one that stands.
  const auto workers = static_cast<int64_t>(c.topology.workers().size());
  if (telling == 0 || recent < telling || telling <= kAdvancingShare * workers) return;
  if (SomebodyFailed(c) || SomebodyFollowed(c) || CollectiveLostAPeer(c)) {
    out.Note(c, FailedSince{Advance::kLoops});
    return;
  }
  Report(c, Detail::kRunning, kConfidencePause, LoopsAdvance{telling, within_ms}, out);
}

// Decides where no page reports either: by logs with steps, be it that of one worker. A log
// that ceased, because its program closed the output, does not prove that its worker stands if
// most logs are so many steps further: they make no steps without it.
void LogsAdvancing(const Case& c, Findings& out) {
  std::vector<int> telling;
  std::optional<int64_t> slowest;  // of those
  std::vector<std::optional<int64_t>> ceased;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    // A missing worker may be the reason why the others soon stand.
    if (snapshot == nullptr) return;
    if (!snapshot->progress.has_value() || !snapshot->progress->step_ms.has_value()) continue;
    const Progress& progress = *snapshot->progress;
    const int64_t due =
        std::max(kLoopMovesWithinMs, kStepLineFactor * progress.longest_step_ms.value_or(0));
    if (*progress.step_ms >= std::min(c.threshold_ms, due)) {
      ceased.push_back(progress.step);
      continue;
    }
    telling.push_back(i);
    const int64_t step = progress.step.value_or(0);
    slowest = std::min(slowest.value_or(step), step);
  }
  const bool outrun = std::all_of(ceased.begin(), ceased.end(), [&](const auto& step) {
    return step.has_value() && slowest.has_value() && *slowest - kLockstepSteps >= *step;
  });
  if (!outrun || ceased.size() >= telling.size()) return;
  if (telling.empty()) return;
  if (SomebodyFailed(c) || SomebodyFollowed(c) || CollectiveLostAPeer(c)) {
    out.Note(c, FailedSince{Advance::kLogs});
    return;
  }
  Report(c, Detail::kRunning, kConfidencePause, LogsAdvance{&telling}, out);
}

// Decides where no steps are known: by the work that kernels count. An alarm has seen evidence that
// this cannot refute, because the work that a hang stops is missed only after a while.
void WorkAdvancing(const Case& c, Findings& out) {
  if (c.capture.header.trigger.value_or("operator") != "operator") return;
  const auto workers = static_cast<int64_t>(c.topology.workers().size());
  std::vector<int> telling;
  for (int i = 0; i < static_cast<int>(workers); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr) return;
    if (!snapshot->work.has_value()) continue;
    const int64_t due =
        std::max(kLoopMovesWithinMs, kStepLineFactor * snapshot->work->longest_ms.value_or(0));
    if (snapshot->work->since_ms >= std::min(c.threshold_ms, due)) return;
    telling.push_back(i);
  }
  if (static_cast<int64_t>(telling.size()) * 2 <= workers) return;
  if (SomebodyFailed(c)) {
    out.Note(c, FailedSince{Advance::kProcesses});
    return;
  }
  Report(c, Detail::kRunning, kConfidencePause, ProcessesWork{&telling}, out);
}

// The time for which the worker has been in its phase: by its page, or else by the last launch
// that one of its cores completed.
int64_t PausedMs(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot->progress.has_value() && snapshot->progress->phase_ms.has_value()) {
    return *snapshot->progress->phase_ms;
  }
  std::optional<int64_t> shortest;
  const auto [first, last] = c.positions.UnitsOf(worker);
  for (int u = first; u < last; ++u) {
    const std::optional<int64_t> stood = StoodMs(c.positions.unit(u));
    if (stood && (!shortest || *stood < *shortest)) shortest = stood;
  }
  return shortest.value_or(0);
}

// The activity for which a host rests, and the time for which that is still an excuse.
struct Pause {
  HostRests host;
  int64_t excused_ms;
};

// `place`: absent if the page of the worker announces the phase.
std::optional<Pause> While(const Case& c, int worker, Phase phase, std::optional<HostPlace> place) {
  const int64_t left = c.ExcusedMs(phase) - PausedMs(c, worker);
  if (left <= 0) return std::nullopt;
  return Pause{{worker, phase, std::move(place)}, left};
}

std::optional<Pause> PauseSeen(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr) return std::nullopt;
  if (snapshot->progress.has_value() && AnnouncesPause(snapshot->progress->phase)) {
    return While(c, worker, snapshot->progress->phase, std::nullopt);
  }
  // An alarm for lack of progress has outlived every learnt pause: an activity that only a stack
  // shows is no excuse any more. Processor time alone is never one: an endless collection burns it,
  // too.
  if (c.capture.header.trigger == "no-progress") return std::nullopt;
  if (c.positions.units().empty() && c.JobStands()) return std::nullopt;
  std::optional<HostPlace> place = PlaceOfHost(*snapshot);
  if (!place.has_value() || !place->by_stack) return std::nullopt;
  switch (place->activity) {
    case HostActivity::kCompilation:
      return While(c, worker, Phase::kCompile, std::move(place));
    case HostActivity::kCheckpointSave:
    case HostActivity::kCheckpointRestore:
      return While(c, worker, Phase::kCheckpoint, std::move(place));
    default:
      return std::nullopt;
  }
}

// The hosts that everything waits for, if these are idle hosts only; otherwise empty.
std::vector<int> AwaitedHosts(const Case& c) {
  std::vector<int> workers;
  // Hosts that rest explain why others are not in one program, unless it is known
  // that the step holds no such program.
  for (const ForeignProgram& foreign : c.divergence.foreign) {
    if (c.topology.cohorts()[static_cast<size_t>(foreign.cohort)].order_was_given) return {};
  }
  for (const Head& head : c.graph.heads) {
    if (head.kind != HeadKind::kIdle) return {};
    workers.push_back(head.worker);
  }
  if (!workers.empty()) return workers;
  // No host is seen to be waited for: then take the workers of slices in which no launch is
  // known to run.
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const WorkerInfo& worker = c.worker(i);
    if (worker.snapshot == nullptr || worker.standby) continue;
    if (c.graph.slices[static_cast<size_t>(worker.slice)].running == 0) workers.push_back(i);
  }
  return workers;
}

// True if an alarm came because a launch has stood for longer than the threshold; an age is
// rounded, and one that equals the threshold tells of nothing longer. To stand in a launch is never
// a pause; the coordinator extends the threshold by the pauses that pages announce, and states
// their limit. Where a capture states none, nothing says that one was waited for.
bool LaunchOutlastsThreshold(const Case& c) {
  const CaptureHeader& header = c.capture.header;
  if (header.trigger != "no-progress" || header.longest_pause_ms.has_value()) return false;
  const std::vector<Unit>& units = c.positions.units();
  return std::any_of(units.begin(), units.end(), [&c](const Unit& unit) {
    if (unit.state != UnitState::kRunning || c.worker(unit.worker).standby) return false;
    const std::optional<int64_t> stood =
        unit.frozen_ms.has_value() ? unit.frozen_ms : unit.stuck_ms;
    return stood.has_value() && *stood > c.threshold_ms;
  });
}

void Pausing(const Case& c, Findings& out) {
  if (c.capture.header.announced_pause_ms.has_value()) {
    out.Note(c, PauseRejected{NoExcuse::kWaitedFor});
    return;
  }
  if (c.capture.header.trigger == "no-progress" && c.positions.units().empty()) {
    out.Note(c, PauseRejected{NoExcuse::kOutlived});
    return;
  }
  const std::vector<int> awaited = AwaitedHosts(c);
  std::optional<HostRests> example;
  int pausing = 0;
  int waiting_for_input = 0;
  int64_t excused_ms = 0;
  for (int worker : awaited) {
    std::optional<Pause> seen = PauseSeen(c, worker);
    if (seen.has_value()) {
      ++pausing;
      if (!example.has_value()) example = std::move(seen->host);
      excused_ms = std::max(excused_ms, seen->excused_ms);
    } else if (!InputWaitSeen(c, worker).empty()) {
      ++waiting_for_input;
    }
  }
  if (pausing == 0 || waiting_for_input > pausing || SomebodyFailed(c)) return;
  if (LaunchOutlastsThreshold(c)) {
    out.Note(c, PauseRejected{NoExcuse::kLaunchStands});
    return;
  }
  if (SomebodyEnded(c)) {
    out.Note(c, PauseRejected{NoExcuse::kOthersEnded});
    return;
  }
  Report(c, Detail::kPaused, kConfidencePause, *example, out);
  out.items.back().excused_ms = excused_ms;
}

}  // namespace

void FindProgress(const Case& c, Findings& out) {
  const size_t before = out.items.size();
  Advancing(c, out);
  if (out.items.size() == before && c.positions.units().empty()) LoopsAdvancing(c, out);
  if (out.items.size() == before && c.positions.units().empty()) LogsAdvancing(c, out);
  if (out.items.size() == before && c.positions.units().empty()) WorkAdvancing(c, out);
  if (out.items.size() == before) Pausing(c, out);
}

}  // namespace rapideye::classifier
