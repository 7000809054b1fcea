#include "classifier/decision/lacking.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

// The order of programs on cores is not known. Programs that only dumps name are in no queue.
bool OrderUnknown(const Case& c) {
  const auto& cohorts = c.topology.cohorts();
  return !c.positions.units().empty() && c.topology.programs().size() >= 2 &&
         std::any_of(cohorts.begin(), cohorts.end(),
                     [](const CohortInfo& cohort) { return cohort.order.empty(); });
}

}  // namespace

namespace {

bool HasPythonMain(const Snapshot& snapshot) {
  return std::any_of(snapshot.stacks.begin(), snapshot.stacks.end(),
                     [](const Stack& stack) { return stack.thread == "MainThread"; });
}

// Adds one sentence, with the reason that the first worker without stacks gives.
void AddMissingStacks(const Case& c, std::vector<std::string>& lacking) {
  int64_t without = 0;
  std::string why;
  for (const WorkerInfo& worker : c.topology.workers()) {
    const Snapshot* snapshot = worker.snapshot;
    if (snapshot == nullptr || !snapshot->stacks_missing.has_value()) continue;
    if (HasPythonMain(*snapshot)) continue;
    ++without;
    if (why.empty()) why = *snapshot->stacks_missing;
  }
  if (without == 0) return;
  lacking.push_back(
      absl::StrCat("where the main thread of ", Count(without, "worker"), " stands: ", why, "."));
}

// The amount of evidence of each kind.
struct Reported {
  int64_t missing = 0;  // workers
  int64_t silent_runtime = 0;
  int64_t with_probes = 0;
  int64_t with_progress = 0;
  int64_t with_ici = 0;
  int64_t with_transfers = 0;
  int64_t unnamed_places = 0;
  int64_t unplaced = 0;  // cores
};

Reported CountReported(const Case& c) {
  Reported count;
  for (const WorkerInfo& worker : c.topology.workers()) {
    const Snapshot* snapshot = worker.snapshot;
    if (snapshot == nullptr) {
      ++count.missing;
      continue;
    }
    if (snapshot->runtime.state != RuntimeState::kServing) ++count.silent_runtime;
    if (!snapshot->probes.empty() || !snapshot->sockets.empty()) ++count.with_probes;
    if (snapshot->progress.has_value() || !snapshot->stacks.empty()) ++count.with_progress;
    if (!snapshot->ici_links.empty()) ++count.with_ici;
    if (!snapshot->transfers.empty()) ++count.with_transfers;
  }
  for (const Place& place : c.positions.places()) {
    if (place.hlo.empty()) ++count.unnamed_places;
  }
  for (const Unit& unit : c.positions.units()) {
    if (unit.state == UnitState::kUnclear) ++count.unplaced;
  }
  return count;
}

}  // namespace

std::vector<std::string> WhatWasLacking(const Case& c) {
  const Reported count = CountReported(c);
  std::vector<std::string> lacking;
  if (count.missing > 0) {
    lacking.push_back(
        absl::StrCat("the snapshots of ", Count(count.missing, "missing worker"), "."));
  }
  if (c.positions.units().empty()) {
    lacking.push_back("the state of any core: no runtime's status service answered.");
  } else if (count.silent_runtime > 0) {
    lacking.push_back(absl::StrCat("the state of the cores of ",
                                   Count(count.silent_runtime, "worker"),
                                   " whose runtime did not answer."));
  }
  if (count.unnamed_places > 0) {
    lacking.push_back(
        absl::StrCat("the HLO instruction at ", count.unnamed_places, " of ",
                     Count(static_cast<int64_t>(c.positions.places().size()), "distinct position"),
                     ": it tells who waits and who computes."));
  }
  if (count.unplaced > 0) {
    lacking.push_back(absl::StrCat("the program counter of ", Count(count.unplaced, "core"), "."));
  }
  if (OrderUnknown(c)) {
    lacking.push_back("the order of the programs of a healthy step (cohorts with a sequence).");
  }
  if (count.with_probes == 0) lacking.push_back("sockets and probes between the workers.");
  if (count.with_progress == 0) {
    lacking.push_back("what the hosts do: a progress page, or stacks of the training processes.");
  }
  AddMissingStacks(c, lacking);
  if (count.with_ici == 0)
    lacking.push_back("the health of the ICI links (an exporter in the process).");
  if (count.with_transfers == 0) {
    lacking.push_back("which cross-slice transfers are pending (an exporter in the process).");
  }
  if (lacking.empty()) {
    lacking.push_back(
        "the state of the cores some seconds before the standstill (the order in "
        "which they stopped).");
  }
  return lacking;
}

std::vector<std::string> WhatLogsLack(const Case& c, const Verdict& verdict) {
  std::vector<std::string> lacking;
  std::vector<int> without_log;
  bool untimed = false;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const auto log =
        std::find_if(c.logs->workers.begin(), c.logs->workers.end(),
                     [&](const WorkerLog& one) { return one.worker == c.worker(i).id; });
    if (log == c.logs->workers.end()) {
      without_log.push_back(i);
    } else {
      untimed = untimed || !log->last_line_ms.has_value();
    }
  }
  const bool started = verdict.detail != Detail::kNotStarted;
  if (!without_log.empty() && started) {
    lacking.push_back(absl::StrCat("the logs of ", WhoAll(c.topology, without_log), "."));
  }
  if (untimed) {
    lacking.push_back(
        "when lines were written: logs with times (kubectl logs --timestamps) order what "
        "happened.");
  }
  if (verdict.detail == Detail::kRunning) {
    // A job that stood still without a word leaves the same lines.
    lacking.push_back(
        "whether the job went on after the last lines: read its logs again, and compare the last "
        "steps.");
  }
  if (verdict.cause == Cause::kNoHang) return lacking;
  lacking.push_back(
      "how each training process ended, and when: an agent (rapideye-agent) sees exit status, "
      "signal and the kernel's word on memory.");
  lacking.push_back(
      "where each host stood: an agent reads the stacks of the training processes, and what they "
      "wait for.");
  lacking.push_back(
      "the state of the cores, and of the connections between workers: agents ask the runtimes "
      "and the kernels.");
  return lacking;
}

std::vector<std::string> WhatToCollect(const Case& c) {
  return c.logs == nullptr ? WhatWasLacking(c) : WhatLogsLack(c, {});
}

}  // namespace rapideye::classifier
