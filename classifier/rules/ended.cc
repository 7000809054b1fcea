// No hang: there is no job any more. Whoever started it has ended all of its
// training processes at about the same time, to restart or to cancel it.
//
// Facts: exit status and signal of the training processes, and when they ended.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "ended";
// One process that is gone was lost, not asked; two or more may have been asked.
constexpr int kLeastProcesses = 2;
// SIGHUP, SIGINT, SIGKILL, SIGTERM: what schedulers, container runtimes and
// people send. A shell reports a signal as 128 plus its number.
constexpr std::array kFromOutside = {1, 2, 9, 15};
constexpr int kShell = 128;

// The signal that ended the process; nothing: nobody saw how it went, or well.
struct Manner {
  bool from_outside = true;
  std::optional<int> signal;
};

Manner HowItWent(const Process& process) {
  std::optional<int> signal = process.signal;
  if (!signal.has_value() && process.exit_code.value_or(0) != 0) {
    signal = *process.exit_code - kShell;
  }
  if (!signal.has_value()) return {};
  const bool known =
      std::find(kFromOutside.begin(), kFromOutside.end(), *signal) != kFromOutside.end();
  return {known, signal};
}

bool Gone(const Process& process) {
  return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
}

bool Lives(const Process& process) {
  return !Gone(process) && process.state != ProcessState::kUnspecified;
}

// What speaks against it, or nothing.
std::optional<std::string> Objection(const Case& c) {
  int gone = 0;
  std::optional<int> signal;
  for (const WorkerInfo& worker : c.topology.workers()) {
    const Snapshot* snapshot = worker.snapshot;
    if (snapshot == nullptr) continue;
    const auto& processes = snapshot->processes;
    // An agent that came after the end has seen no process; and what lives where no
    // runtime listens any more is the next one, which starts.
    if (snapshot->runtime.state == RuntimeState::kUnavailable &&
        std::none_of(processes.begin(), processes.end(), Gone)) {
      continue;
    }
    if (std::none_of(processes.begin(), processes.end(), Gone) ||
        std::any_of(processes.begin(), processes.end(), Lives)) {
      return absl::StrCat(Who(worker), " has not ended");
    }
    ++gone;
    for (const Process& process : processes) {
      const Manner manner = HowItWent(process);
      if (!manner.from_outside) return absl::StrCat(Who(worker), " failed by itself");
      if (!manner.signal.has_value()) continue;
      if (signal.value_or(*manner.signal) != *manner.signal) {
        return "its processes were not all ended alike";
      }
      signal = manner.signal;
    }
  }
  if (gone < kLeastProcesses) return "too few processes are known to have ended";
  if (c.timeline.hang_declared) return "its runtime had declared a hang";
  const bool failed =
      std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                  [](const ErrorEvent& event) { return event.kind != ErrorKind::kExit; });
  if (failed) return "something had failed before";
  if (c.timeline.still_ms.value_or(0) >= c.threshold_ms) return "it had stood still before";
  return std::nullopt;
}

}  // namespace

void FindEnded(const Case& c, Findings& out) {
  const bool exits = std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                                 [](const ErrorEvent& e) { return e.kind == ErrorKind::kExit; });
  if (!exits) return;
  if (const std::optional<std::string> objection = Objection(c)) {
    out.Note(kRule, absl::StrCat("the job was not ended on purpose: ", *objection));
    return;
  }
  Finding finding;
  finding.basis = Basis::kPause;
  finding.cause = Cause::kNoHang;
  finding.detail = Detail::kEnded;
  finding.confidence = kConfidenceAdvancing;
  finding.why = "all training processes were ended from outside at about the same time";
  EvidenceItem& evidence = finding.evidence.emplace_back();
  evidence.statement = finding.why;
  evidence.strength = Strength::kDirect;
  out.Add(kRule, std::move(finding));
}

}  // namespace rapideye::classifier
