// Something failed outright and cannot come back: a core halted, a process exited
// or was stopped, memory ran out, a copy or the power failed. The first such
// error is the cause. The timeline has separated the first errors from those that merely
// follow, by age, with the error of the ages.
//
// Facts: halt lines of the runtime and core errors; exit status, signal and state of
// processes; "RESOURCE_EXHAUSTED: Out of memory"; failed copies; preemption notices.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

std::optional<Detail> DetailOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kPower:
      return Detail::kPower;
    case ErrorKind::kSoftwareHalt:
    case ErrorKind::kOtherHalt:
      return Detail::kCoreHalt;
    case ErrorKind::kOutOfMemory:
      return Detail::kOutOfMemory;
    case ErrorKind::kHostToDevice:
      return Detail::kHostToDevice;
    case ErrorKind::kDeviceToHost:
      return Detail::kDeviceToHost;
    case ErrorKind::kCopyUnclear:
      return Detail::kOther;
    case ErrorKind::kPreempted:
      return Detail::kPreempted;
    case ErrorKind::kDeviceUnavailable:
      return Detail::kDeviceUnavailable;
    case ErrorKind::kConfiguration:
      return Detail::kConfiguration;
    case ErrorKind::kStopped:
      return Detail::kProcessStopped;
    case ErrorKind::kException:
    case ErrorKind::kExit:
      return Detail::kProcessExit;
    // Other rules report these causes.
    case ErrorKind::kKernelHardware:
    case ErrorKind::kHardwareHalt:
    case ErrorKind::kChipDriver:
    case ErrorKind::kNetworkHalt:
    case ErrorKind::kLaunchGroup:
    case ErrorKind::kCollectiveMismatch:
      return std::nullopt;
  }
  return std::nullopt;
}

// A process is gone, and the time of its end was not seen. If all other processes live, none of
// them has ended in a way that this one could have followed.
bool GoneAlone(const Case& c, const std::vector<const ErrorEvent*>& events) {
  if (events.size() != 1 || !events.front()->unexplained) return false;
  return std::all_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                     [&](const ErrorEvent& event) {
                       return event.kind != ErrorKind::kExit || &event == events.front();
                     });
}

bool SomebodyIsMissing(const Case& c) {
  return std::any_of(c.topology.workers().begin(), c.topology.workers().end(),
                     [](const WorkerInfo& worker) { return worker.snapshot == nullptr; });
}

// How these processes ended was not seen, and a worker is missing that may have ended before them.
bool MayFollowTheMissing(const Case& c, const std::vector<const ErrorEvent*>& events) {
  return SomebodyIsMissing(c) && std::all_of(events.begin(), events.end(),
                                             [](const auto* event) { return event->unexplained; });
}

// A stop, a loss of memory or power, or a maintenance never follows from a failure of other
// workers. A process that ended may have followed another, unless all others live, or have
// ended as processes do that lose a peer.
bool IsOwn(const Case& c, const std::vector<const ErrorEvent*>& events) {
  switch (events.front()->kind) {
    case ErrorKind::kStopped:
    case ErrorKind::kPower:
    case ErrorKind::kPreempted:
      return true;
    case ErrorKind::kOutOfMemory:
      return std::all_of(events.begin(), events.end(),
                         [](const ErrorEvent* event) { return event->by_host; });
    case ErrorKind::kExit: {
      const ErrorEvent& event = *events.front();
      if (MayFollowTheMissing(c, events)) return false;
      return events.size() == 1 && !event.aborted && !event.of_victim && !event.in_recovery &&
             std::all_of(c.timeline.errors.begin(), c.timeline.errors.end(),
                         [&](const ErrorEvent& other) {
                           return other.kind != ErrorKind::kExit || other.worker == event.worker ||
                                  other.aborted || other.of_victim;
                         });
    }
    default:
      return false;
  }
}

void AddFinding(const Case& c, const std::vector<const ErrorEvent*>& events, Finding finding,
                Findings& out) {
  finding.basis = Basis::kError;
  finding.cause = Cause::kUnrecoverableError;
  finding.own = IsOwn(c, events);
  for (const ErrorEvent* event : events) {
    Culprit& culprit = Accuse(c, Strength::kDirect, Failure{event}, finding);
    culprit.chip = event->chip;
    if (event->kind == ErrorKind::kStopped) culprit.host_activity = HostActivity::kPaused;
    if (event->core_type != CoreType::kUnspecified) culprit.core_type = event->core_type;
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

// An error younger than the first is never the cause, and yet a fault beside the cause if it cannot
// have followed.
void FindLater(const Case& c, Findings& out) {
  const Timeline& timeline = c.timeline;
  std::map<ErrorKind, std::vector<const ErrorEvent*>> later;
  for (size_t i = static_cast<size_t>(timeline.first_count); i < timeline.roots.size(); ++i) {
    const ErrorEvent& event = timeline.errors[static_cast<size_t>(timeline.roots[i])];
    later[event.kind].push_back(&event);
  }
  for (const auto& [kind, events] : later) {
    const std::optional<Detail> detail = DetailOf(kind);
    if (!detail.has_value() || !IsOwn(c, events)) continue;
    Finding finding;
    finding.detail = *detail;
    finding.confidence = kConfidenceLaterError;
    AddFinding(c, events, std::move(finding), out);
  }
}

}  // namespace

void FindUnrecoverable(const Case& c, Findings& out) {
  const Timeline& timeline = c.timeline;
  for (const std::string& reason : timeline.reasons) out.RuleOut(reason);
  // Errors without a certain order: the most specific kind comes first.
  std::map<ErrorKind, std::vector<const ErrorEvent*>> first;
  for (int i = 0; i < timeline.first_count; ++i) {
    const ErrorEvent& event =
        timeline.errors[static_cast<size_t>(timeline.roots[static_cast<size_t>(i)])];
    first[event.kind].push_back(&event);
  }
  bool most_specific = true;
  for (const auto& [kind, events] : first) {
    const std::optional<Detail> detail = DetailOf(kind);
    if (!detail.has_value()) {
      most_specific = false;
      continue;
    }
    Finding finding;
    finding.detail = *detail;
    const bool aged = std::all_of(events.begin(), events.end(), [](const ErrorEvent* event) {
      return event->age_ms.has_value() || event->kind == ErrorKind::kStopped;
    });
    const bool several = first.size() > 1;
    const bool own = IsOwn(c, events);
    // With another error, the first is not known; but an error that cannot have followed is a
    // fault for certain. A process may end because a launcher ends it, whichever worker failed.
    const bool by_itself = own && (most_specific || kind != ErrorKind::kExit);
    finding.confidence = several && by_itself
                             ? most_specific ? kConfidenceDirectError : kConfidenceOwnError
                         : !most_specific                 ? kConfidenceUnorderedErrors - 0.15
                         : several                        ? kConfidenceUnorderedErrors
                         : MayFollowTheMissing(c, events) ? kConfidenceExitBesideMissing
                         : aged                           ? kConfidenceDirectError
                         : GoneAlone(c, events)           ? kConfidenceGoneAlone
                                                          : kConfidenceErrorWithoutAge;
    AddFinding(c, events, std::move(finding), out);
    most_specific = false;
  }
  FindLater(c, out);
}

}  // namespace rapideye::classifier
