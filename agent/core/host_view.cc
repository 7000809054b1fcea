#include "agent/core/host_view.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/sources/log/limits.h"

namespace rapideye::agent {
namespace {

// A source says once why it has nothing to say.
void LogOnce(const std::string& source, const std::string& why, std::string& logged,
             Effects& effects) {
  if (why.empty() || why == logged) return;
  logged = why;
  effects.push_back(Log{LogLevel::kWarning, absl::StrCat(source, ": ", why)});
}

// What the coordinator must know before the next heartbeat.
std::optional<wire::AlarmKind> AlarmOf(LogKind kind) {
  switch (kind) {
    case LogKind::kHangDetected:
      return wire::AlarmKind::kHangLine;
    case LogKind::kHaltHardware:
    case LogKind::kHaltNetwork:
    case LogKind::kHaltPower:
    case LogKind::kHaltUser:
    case LogKind::kHaltAssertion:
    case LogKind::kLaunchGroupMismatch:
    case LogKind::kCoreHalt:
    case LogKind::kChipDriverError:
    case LogKind::kFatalProgramError:
      return wire::AlarmKind::kCoreHalt;
    default:
      return std::nullopt;
  }
}

}  // namespace

void HostView::Observe(const HostReading& reading, absl::Duration now, WorkerView& worker,
                       Alarms& alarms, Effects& effects) {
  if (reading.process.has_value()) {
    ObserveProcess(*reading.process, now, worker, alarms, effects);
  }
  if (reading.stacks.has_value()) {
    LogOnce("stacks of the training process", reading.stacks->unavailable, stacks_unavailable_,
            effects);
    stacks_.Observe(*reading.stacks);
  }
  if (reading.chip_holders.has_value()) chip_holders_ = *reading.chip_holders;
  if (reading.sockets.has_value()) {
    LogOnce("nothing is known of connections to other workers", reading.sockets->unavailable,
            sockets_unavailable_, effects);
    if (reading.sockets->unavailable.empty()) {
      sockets_.Observe(reading.sockets->sockets, worker.last_progress(), now);
    }
  }
  if (reading.metrics.has_value()) {
    LogOnce("some metrics are left out", reading.metrics->unavailable, metrics_unavailable_,
            effects);
    metrics_ = reading.metrics->metrics;
  }
  if (reading.progress.has_value()) {
    LogOnce("nothing is known of what the training loop does", reading.progress->unavailable,
            progress_unavailable_, effects);
    progress_.Observe(*reading.progress, now);
    worker.SetPauseAnnounced(progress_.AnnouncesPause());
  }
  ObserveHardware(reading.hardware, now, worker, effects);
}

void HostView::ObserveHardware(const HardwareReading& reading, absl::Duration now,
                               const WorkerView& worker, Effects& effects) {
  if (reading.nics.has_value()) {
    LogOnce("nothing is known of network interfaces", reading.nics->unavailable, nics_unavailable_,
            effects);
  }
  if (reading.pcie.has_value()) {
    LogOnce("PCIe errors of chips are not known", reading.pcie->unavailable, pcie_unavailable_,
            effects);
  }
  if (reading.kernel_log.has_value()) {
    LogOnce("nothing is known of what the kernel says of chips", reading.kernel_log->unavailable,
            kernel_log_unavailable_, effects);
    for (const std::string& note : reading.kernel_log->notes) {
      effects.push_back(Log{LogLevel::kWarning, note});
    }
  }
  hardware_.Observe(reading, {process_.alive(), worker.last_progress(), worker.EverLaunched()},
                    now);
}

void HostView::ObserveProcess(const ProcessReading& reading, absl::Duration now, WorkerView& worker,
                              Alarms& alarms, Effects& effects) {
  LogOnce("nothing is known of the training process", reading.unavailable, process_unavailable_,
          effects);
  const TrainingProcess::Change change = process_.Observe(reading, now);
  worker.SetProcess(process_.alive());
  if (change.another) {
    sockets_.Clear();
    stacks_.Forget();
  }
  if (change.another && process_.before_until().has_value()) {
    logs_.ForgetBefore(*process_.before_until() + kLastWordsDelay);
  }
  if (!change.ended) return;
  effects.push_back(Log{LogLevel::kWarning, process_.DescribeEnd()});
  // A job that is done ends between two launches, and well.
  const bool in_midst =
      process_.EndIsKnown() ? process_.EndedBadly() && worker.EverLaunched() : worker.AnyInLaunch();
  if (in_midst) alarms.Raise(wire::AlarmKind::kProcessExit, process_.DescribeEnd(), now);
}

void HostView::Observe(const logs::LogReading& reading, absl::Duration now, Alarms& alarms,
                       Effects& effects) {
  for (const std::string& note : reading.notes) {
    effects.push_back(Log{LogLevel::kWarning, note});
  }
  for (const logs::LogLine& line : reading.lines) {
    logs_.Observe(line, now);
    const std::optional<wire::AlarmKind> alarm = AlarmOf(line.event.kind);
    if (alarm.has_value() && !line.old) alarms.Raise(*alarm, line.event.text, now);
  }
}

void HostView::Progressed() {
  process_.Progressed();
  logs_.Progressed();
  metrics_.clear();
  stacks_.Forget();
  chip_holders_.clear();
}

void HostView::Describe(Instant now, Snapshot& snapshot) const {
  process_.Describe(now, snapshot);
  logs_.Describe(now, snapshot);
  hardware_.Describe(now, snapshot);
  snapshot.metrics = metrics_;
  snapshot.progress = progress_.Describe(now.monotonic);
  stacks_.Describe(snapshot);
  snapshot.chip_holders = chip_holders_;
  // With its process every connection ends, which says nothing of the links.
  if (process_.alive().has_value()) sockets_.Describe(now, snapshot);
}

}  // namespace rapideye::agent
