#include "classifier/findings/finding.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/host/host_place.h"
#include "classifier/host/library_counts.h"
#include "classifier/host/stacks.h"
#include "classifier/host/watchdog.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

int64_t ThresholdOf(const Capture& capture) {
  int64_t threshold = capture.header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
  const std::string trigger = capture.header.trigger.value_or("");
  if (trigger == "hang-line" || trigger == "halt" || trigger == "exit") {
    threshold = std::min(threshold, kRuntimeLaunchThresholdMs);
  }
  // A runtime that declared the hang did so by a threshold of its own.
  for (const Snapshot& snapshot : capture.snapshots) {
    if (snapshot.hang_report && snapshot.hang_report->timeout_ms > 0) {
      threshold = std::min(threshold, snapshot.hang_report->timeout_ms);
    }
  }
  return std::max<int64_t>(threshold, 1);
}

// By logs alone: stacks were written as a step was overdue, and no other worker goes on.
bool JobStandsByLogs(const LogEvidence& logs) {
  bool told = false;
  for (const WorkerLog& log : logs.workers) {
    told = told || log.stands_in_stacks;
    const int64_t due =
        std::max(kLoopMovesWithinMs, kStepLineFactor * log.longest_step_ms.value_or(0));
    if (!log.stands_in_stacks && log.step_ms && *log.step_ms < due) return false;
  }
  return told;
}

// By the kernels' counts of their work: at least half of the processes tell, and all of those have
// only waited.
bool ProcessesOnlyWait(const Topology& topology, int64_t threshold_ms) {
  size_t active = 0;
  size_t waiting = 0;
  for (const WorkerInfo& one : topology.workers()) {
    if (one.standby) continue;
    ++active;
    if (one.snapshot == nullptr || !one.snapshot->only_waits_ms.has_value()) continue;
    const std::optional<Work>& work = one.snapshot->work;
    const int64_t longest = work.has_value() ? work->longest_ms.value_or(0) : 0;
    if (*one.snapshot->only_waits_ms < std::max(threshold_ms, kStepLineFactor * longest)) {
      return false;
    }
    ++waiting;
  }
  return waiting > 0 && 2 * waiting >= active;
}

// Watchdogs of their own ended at least half of the workers for lack of progress.
bool WatchdogsEndedMost(const Topology& topology) {
  size_t active = 0;
  size_t ended = 0;
  for (const WorkerInfo& one : topology.workers()) {
    if (one.standby) continue;
    ++active;
    if (one.snapshot == nullptr) continue;
    const auto& processes = one.snapshot->processes;
    ended += std::any_of(processes.begin(), processes.end(), [&one](const Process& process) {
      return EndedByWatchdog(process, *one.snapshot);
    });
  }
  return ended > 1 && 2 * ended >= active;
}

}  // namespace

Case::Case(const Capture& capture_in, const LogEvidence* logs_in)
    : capture(capture_in),
      logs(logs_in),
      topology(capture_in),
      positions(topology),
      divergence(FindDivergence(topology, positions)),
      graph(BuildWaitGraph(topology, positions, divergence)),
      timeline(BuildTimeline(topology)),
      first_to_stop(FindFirstToStop(positions)),
      threshold_ms(ThresholdOf(capture_in)),
      links(CollectLinks(topology, timeline.still_ms.value_or(threshold_ms))) {}

int64_t Case::LongestPauseMs() const {
  const int64_t learnt = capture.header.hang_threshold_ms.value_or(0);
  // A hostile threshold must not overflow.
  if (learnt > std::numeric_limits<int64_t>::max() / 2) return learnt;
  return std::max(kLongestPauseMs, 2 * learnt);
}

int64_t Case::ExcusedMs(Phase phase) const {
  const CaptureHeader& header = capture.header;
  const int64_t limit = header.longest_pause_ms.value_or(LongestPauseMs());
  int64_t longest = 0;
  for (const LearntPause& pause : header.learnt_pauses) {
    if (pause.phase == phase) longest = std::max(longest, pause.longest_ms);
  }
  // No pause of this kind was learnt in this job. A hostile length must not overflow.
  if (longest == 0 || longest >= limit) return limit;
  return std::min(std::max(kPauseFactor * longest, kLeastExcusedMs), limit);
}

bool Case::JobStands() const {
  if (logs != nullptr && JobStandsByLogs(*logs)) return true;
  const std::optional<std::string>& trigger = capture.header.trigger;
  // Older coordinators gave an exit the same trigger, and an exit is no standstill.
  if (trigger == "no-progress" || (trigger == "hang-line" && timeline.hang_declared)) return true;
  if (timeline.still_ms.value_or(0) >= LongestPauseMs()) return true;
  if (WatchdogsEndedMost(topology)) return true;
  bool told = false;
  for (const WorkerInfo& one : topology.workers()) {
    if (one.snapshot == nullptr || !one.snapshot->progress.has_value()) continue;
    const Progress& progress = *one.snapshot->progress;
    const std::optional<int64_t>& stood =
        progress.phase_ms.has_value() ? progress.phase_ms : progress.step_ms;
    if (!stood.has_value()) continue;
    const int64_t longest = kStepLineFactor * progress.longest_step_ms.value_or(0);
    if (*stood < std::max(threshold_ms, longest)) return false;
    told = true;
  }
  return told || ProcessesOnlyWait(topology, threshold_ms);
}

std::optional<int64_t> StepOf(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr || !snapshot->progress.has_value()) return std::nullopt;
  return snapshot->progress->step;
}

Culprit CulpritWorker(const Case& c, int worker, std::string why) {
  const WorkerInfo& info = c.worker(worker);
  Culprit culprit;
  culprit.worker = info.id;
  culprit.host = std::string(info.host);
  culprit.node = info.node;
  culprit.why = std::move(why);
  return culprit;
}

Culprit CulpritCore(const Case& c, int worker, const Core& core, std::string why) {
  Culprit culprit = CulpritWorker(c, worker, std::move(why));
  culprit.chip = core.chip;
  culprit.core_type = core.type;
  culprit.core_index = core.index;
  return culprit;
}

EvidenceItem Evidence(const Case& c, Strength strength, const std::vector<int>& workers,
                      std::string statement) {
  EvidenceItem item;
  item.statement = std::move(statement);
  item.strength = strength;
  for (int worker : workers) item.workers.push_back(c.worker(worker).id);
  std::sort(item.workers.begin(), item.workers.end());
  return item;
}

std::string WhoWaits(const Case& c, const Head& head) {
  const int slice = c.worker(head.worker).slice;
  const SliceView& view = c.graph.slices[static_cast<size_t>(slice)];
  std::string text;
  if (view.cluster > 0 && view.crowd_place >= 0) {
    text = absl::StrCat(Count(view.cluster, "core"), " of slice ",
                        c.topology.slices()[static_cast<size_t>(slice)].id,
                        view.cluster == 1 ? " waits at " : " wait at ",
                        PlaceName(c.topology, c.positions.place(view.crowd_place)));
  }
  const int beyond = c.graph.waiting - view.cluster;
  if (beyond > 0) {
    // No core waits inside the head's slice: all waiting cores are in other slices.
    const bool all = text.empty();
    absl::StrAppend(&text, all ? "" : "; behind them ", Count(beyond, all ? "core" : "more core"),
                    beyond == 1 ? " stands" : " stand", all ? " behind it" : "");
  }
  return text;
}

std::string StoodFor(const Case& c, const Head& head) {
  std::optional<int64_t> longest;
  for (int unit : head.units) {
    const Unit& u = c.positions.unit(unit);
    const std::optional<int64_t> stood = u.stuck_ms.has_value() ? u.stuck_ms : u.frozen_ms;
    if (stood && (!longest || *stood > *longest)) longest = stood;
  }
  return longest ? absl::StrCat(" for ", Span(*longest)) : "";
}

std::string InputWaitSeen(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr) return "";
  const int64_t stood = c.timeline.still_ms.value_or(c.threshold_ms);
  const auto long_enough = [&](int64_t ms) {
    return ms >= kLongWaitMs &&
           static_cast<double>(ms) >= kLongWaitShare * static_cast<double>(stood);
  };
  if (snapshot->progress.has_value()) {
    const Progress& progress = *snapshot->progress;
    if (progress.input_wait_ms && long_enough(*progress.input_wait_ms)) {
      return absl::StrCat("its training loop has waited for input for ",
                          Span(*progress.input_wait_ms));
    }
    if (progress.phase == Phase::kInput && !progress.input_wait_ms &&
        (!progress.phase_ms || long_enough(*progress.phase_ms))) {
      return "its training loop says that it waits for input";
    }
  }
  const std::string pipeline = EmptyPipeline(snapshot->metrics);
  if (!pipeline.empty()) return pipeline;
  for (const Stack* stack : LoopStacks(*snapshot)) {
    const std::string frame = InputFrame(*stack);
    if (!frame.empty()) {
      return absl::StrCat("its thread ", Quote(stack->thread), " stands in ", Quote(frame));
    }
  }
  for (const LogEvent& log : snapshot->log_events) {
    // A line older than the standstill belongs to an earlier wait.
    if (log.kind != LogKind::kInputWait || !log.age_ms.has_value()) continue;
    if (long_enough(*log.age_ms) && *log.age_ms <= stood + kAgeErrorMs) {
      return absl::StrCat("its log says ", Quote(log.text));
    }
  }
  return "";
}

bool MostWaitAtBarrier(const Case& c) {
  constexpr size_t kLeastForMajority = 3;
  bool idle = false;
  for (const Head& head : c.graph.heads) {
    if (head.kind == HeadKind::kCrossWait) continue;
    if (head.kind != HeadKind::kIdle) return false;
    idle = true;
  }
  if (!idle) return false;
  size_t placed = 0;
  size_t at_barrier = 0;
  std::vector<bool> waits(c.topology.workers().size(), false);
  for (size_t i = 0; i < waits.size(); ++i) {
    const Snapshot* snapshot = c.topology.workers()[i].snapshot;
    const auto place = snapshot == nullptr ? std::nullopt : PlaceOfHost(*snapshot);
    if (!place.has_value() || !place->by_stack) continue;
    ++placed;
    waits[i] = place->wait == HostWait::kBarrier;
    at_barrier += waits[i] ? 1 : 0;
  }
  return placed >= kLeastForMajority && 3 * (placed - at_barrier) <= placed &&
         std::all_of(c.graph.heads.begin(), c.graph.heads.end(), [&](const Head& head) {
           return head.kind == HeadKind::kCrossWait || waits[static_cast<size_t>(head.worker)];
         });
}

bool IsStuckInKernel(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr || snapshot->runtime.state != RuntimeState::kTimedOut) return false;
  const bool held =
      std::any_of(snapshot->processes.begin(), snapshot->processes.end(),
                  [](const Process& one) { return one.state == ProcessState::kUninterruptible; });
  if (!held || !InputWaitSeen(c, worker).empty()) return false;
  const std::optional<HostPlace> place = PlaceOfHost(*snapshot);
  return !place.has_value() || !place->by_stack || place->wait != HostWait::kNone;
}

}  // namespace rapideye::classifier
