#include "classifier/errors/error_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/errors/error_kind.h"
#include "classifier/errors/restarts.h"
#include "classifier/host/host_place.h"
#include "classifier/host/obstacles.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

std::string WhatBecameOf(const Process& process) {
  if (IsFrozen(process)) return "frozen by a cgroup";
  if (process.state == ProcessState::kStopped) return "stopped (SIGSTOP or a debugger)";
  if (process.signal.has_value()) return absl::StrCat("killed by signal ", *process.signal);
  if (process.exit_code.has_value()) return absl::StrCat("exited with status ", *process.exit_code);
  return "exited";
}

bool IsByHost(ErrorKind kind, LogSource source) {
  return ((kind == ErrorKind::kKernelHardware || kind == ErrorKind::kOutOfMemory) &&
          source == LogSource::kKernelLog) ||
         (kind == ErrorKind::kPreempted && source == LogSource::kPlatform);
}

// Marks the end of a process that an obstacle on its host has kept from its first launch.
void ExplainByObstacles(const Topology& topology, ErrorEvent& event) {
  const std::vector<const Obstacle*> obstacles = ObstaclesOf(topology, event.worker);
  if (obstacles.empty()) return;
  event.kind = ErrorKind::kDeviceUnavailable;
  event.text =
      absl::StrCat("its training process ", event.text, "; ", DescribeObstacles(obstacles));
}

class ErrorReader {
 public:
  ErrorReader(const Topology& topology, const Standstill& still)
      : topology_(topology), still_(still) {
    somebody_serves_ = std::any_of(
        topology.workers().begin(), topology.workers().end(), [](const WorkerInfo& worker) {
          return worker.snapshot != nullptr &&
                 worker.snapshot->runtime.state == RuntimeState::kServing;
        });
  }

  Errors Read();

 private:
  void ReadLogs(int worker, const Snapshot& snapshot);
  void ReadCores(int worker, const Snapshot& snapshot);
  void ReadProcesses(int worker, const Snapshot& snapshot);

  // A runtime that answered before does not listen any more, and nothing else is known of its
  // process: so the process has ended. If all runtimes are gone, another rule says the job ended.
  void ReadRuntime(int worker, const Snapshot& snapshot);

  // Processes younger than the standstill that run no launch, while those of most others are older:
  // earlier processes have ended. The others have completed launches that did not need them.
  void ReadRestarts();

  // True if the end of the earlier process is known: the same event, with better evidence.
  bool EndIsKnown(const Restart& restart) const;

  const Topology& topology_;
  const Standstill& still_;
  Errors errors_;
  bool somebody_serves_ = false;
};

Errors ErrorReader::Read() {
  for (size_t i = 0; i < topology_.workers().size(); ++i) {
    const Snapshot* snapshot = topology_.workers()[i].snapshot;
    if (snapshot == nullptr || topology_.workers()[i].standby) continue;
    ReadLogs(static_cast<int>(i), *snapshot);
    ReadCores(static_cast<int>(i), *snapshot);
    ReadProcesses(static_cast<int>(i), *snapshot);
    ReadRuntime(static_cast<int>(i), *snapshot);
  }
  ReadRestarts();
  std::sort(errors_.events.begin(), errors_.events.end(),
            [](const ErrorEvent& a, const ErrorEvent& b) {
              return std::tuple(a.worker, a.kind, -a.age_ms.value_or(-1), a.chip, a.text) <
                     std::tuple(b.worker, b.kind, -b.age_ms.value_or(-1), b.chip, b.text);
            });
  return std::move(errors_);
}

void ErrorReader::ReadLogs(int worker, const Snapshot& snapshot) {
  errors_.hang_declared = errors_.hang_declared || DeclaredHang(snapshot);
  for (const LogEvent& log : snapshot.log_events) {
    const std::optional<ErrorKind> kind = KindOfLine(log, snapshot);
    if (!kind.has_value()) continue;
    ErrorEvent event;
    event.kind = *kind;
    event.chip = log.chip;
    event.core_type = log.core_type;
    event.age_ms = log.age_ms;
    // A kernel's line in the job's own log is the job's word. A line of the kernel's log, or
    // of the platform, is out of the job's reach if the agent is; the coordinator knows that
    // by the agent's certificate.
    event.by_host = IsByHost(*kind, log.source);
    event.beyond_job = event.by_host && snapshot.direct_evidence.value_or(false);
    event.text = Quote(log.text);
    event.worker = worker;
    const bool of_peer = *kind == ErrorKind::kChipDriver || *kind == ErrorKind::kPreempted;
    if (of_peer && log.peer_host.has_value()) {
      event.chip.reset();
      for (int peer : topology_.FindHost(*log.peer_host)) {
        event.worker = peer;
        errors_.events.push_back(event);
      }
      continue;
    }
    // A driver error names its worker; an error without a name accuses nobody.
    if (*kind == ErrorKind::kChipDriver) continue;
    errors_.events.push_back(std::move(event));
  }
}

void ErrorReader::ReadCores(int worker, const Snapshot& snapshot) {
  for (const Core& core : snapshot.cores) {
    if (!core.error.has_value() || core.error->empty()) continue;
    if (IsContinuatorHalt(*core.error)) continue;
    ErrorEvent event;
    event.kind = KindByWording(*core.error).value_or(ErrorKind::kOtherHalt);
    event.worker = worker;
    event.chip = core.chip;
    event.core_type = core.type;
    event.text = Quote(*core.error);
    errors_.events.push_back(std::move(event));
  }
}

void ErrorReader::ReadProcesses(int worker, const Snapshot& snapshot) {
  constexpr int32_t kSigTrap = 5;
  constexpr int32_t kSigAbrt = 6;
  constexpr int32_t kSigKill = 9;
  constexpr int32_t kSigTerm = 15;
  const bool alive = std::any_of(snapshot.processes.begin(), snapshot.processes.end(), IsAlive);
  for (const Process& process : snapshot.processes) {
    const bool gone =
        process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
    const bool frozen = !gone && IsFrozen(process);
    if (!gone && !frozen && process.state != ProcessState::kStopped) continue;
    // Skips a helper that did its work and ended, beside a process that lives.
    if (gone && alive && process.exit_code == 0) continue;
    ErrorEvent event;
    event.kind = gone ? ErrorKind::kExit : ErrorKind::kStopped;
    event.worker = worker;
    event.age_ms = process.exited_ms_ago;
    // A shell reports death by a signal as 128 plus its number.
    const auto ended_by = [&process, gone](int32_t signal) {
      return gone && (process.signal == signal || process.exit_code == 128 + signal);
    };
    const EndByWords words = EndByWordsOf(process, snapshot);
    event.aborted = ended_by(kSigAbrt) || ended_by(kSigTrap) || words == EndByWords::kAbort;
    event.terminated = ended_by(kSigTerm) || ended_by(kSigKill);
    event.succeeded = gone && process.exit_code == 0;
    event.signalled = gone && !event.aborted &&
                      (process.signal.has_value() || process.exit_code.value_or(0) > 128);
    event.unexplained = gone && !process.signal && !process.exit_code && words == EndByWords::kNone;
    if (event.aborted) ++errors_.aborted;
    event.text = WhatBecameOf(process);
    if (gone) ExplainByObstacles(topology_, event);
    errors_.events.push_back(std::move(event));
  }
}

void ErrorReader::ReadRuntime(int worker, const Snapshot& snapshot) {
  const bool gone = snapshot.runtime.state == RuntimeState::kUnavailable &&
                    snapshot.processes.empty() && !snapshot.cores.empty();
  if (!gone || !somebody_serves_) return;
  ErrorEvent event;
  event.kind = ErrorKind::kExit;
  event.worker = worker;
  event.unexplained = true;
  event.text = "has ended: nobody listens where its runtime answered before";
  errors_.events.push_back(std::move(event));
}

void ErrorReader::ReadRestarts() {
  if (!still_.waiting_ms) return;
  for (const Restart& restart : FindRestarts(
           topology_, *still_.waiting_ms + still_.wait_before_failing_ms, still_.still_ms)) {
    if (EndIsKnown(restart)) continue;
    ErrorEvent event;
    event.kind = ErrorKind::kExit;
    event.worker = restart.worker;
    event.age_ms = restart.started_ms_ago;
    event.unexplained = true;
    event.in_recovery = restart.among_others;
    event.text = "has been started anew, and the one before it had ended";
    errors_.events.push_back(std::move(event));
  }
}

bool ErrorReader::EndIsKnown(const Restart& restart) const {
  return std::any_of(
      errors_.events.begin(), errors_.events.end(), [&restart](const ErrorEvent& event) {
        return event.kind == ErrorKind::kExit && event.worker == restart.worker && event.age_ms &&
               *event.age_ms + kAgeErrorMs >= restart.started_ms_ago &&
               *event.age_ms - kVictimEndsWithinMs <= restart.started_ms_ago;
      });
}

}  // namespace

bool DeclaredHang(const Snapshot& snapshot) {
  return snapshot.hang_report.has_value() ||
         std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(),
                     [](const LogEvent& log) { return log.kind == LogKind::kHangDetected; });
}

Errors ReadErrors(const Topology& topology, const Standstill& still) {
  return ErrorReader(topology, still).Read();
}

}  // namespace rapideye::classifier
