#include "classifier/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/host_place.h"
#include "classifier/obstacles.h"
#include "classifier/phrases.h"
#include "classifier/restarts.h"
#include "classifier/stacks.h"
#include "classifier/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// A line may fit several kinds; its own words are more specific than the kind under
// which it was filed. Signatures as in the published logs of the runtime.
struct Wording {
  std::string_view part;
  ErrorKind kind;
};
constexpr std::array kWordings = {
    Wording{"observed errors are: [Hardware]", ErrorKind::kHardwareHalt},
    Wording{"observed errors are: [Network]", ErrorKind::kNetworkHalt},
    Wording{"observed errors are: [Power]", ErrorKind::kPower},
    Wording{"in the launch group with a different launch id", ErrorKind::kLaunchGroup},
    Wording{"Is there a distributed collective mismatch", ErrorKind::kCollectiveMismatch},
    Wording{"observed errors are: [User]", ErrorKind::kSoftwareHalt},
    Wording{"BoundsCheck", ErrorKind::kSoftwareHalt},
    Wording{"scheck", ErrorKind::kSoftwareHalt},
    Wording{"has a nonzero value upon exit", ErrorKind::kSoftwareHalt},
    Wording{"Failed to start RPC server", ErrorKind::kDeviceUnavailable},
    Wording{"ddress already in use", ErrorKind::kDeviceUnavailable},
    Wording{"TPU is already in use", ErrorKind::kDeviceUnavailable},
    Wording{"Device or resource busy", ErrorKind::kDeviceUnavailable},
    Wording{"No available TPU", ErrorKind::kDeviceUnavailable},
    Wording{"TPU initialization failed: Invalid", ErrorKind::kConfiguration},
    Wording{"slice_builder_worker_addresses", ErrorKind::kConfiguration},
    Wording{"TPU initialization failed", ErrorKind::kDeviceUnavailable},
    Wording{"Failed to get global TPU topology", ErrorKind::kDeviceUnavailable},
    Wording{"Couldn't open iommu group", ErrorKind::kDeviceUnavailable},
    Wording{"Couldn't open device: /dev/", ErrorKind::kDeviceUnavailable},
    Wording{"RESOURCE_EXHAUSTED: Out of memory", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: Error loading program", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: Error allocating", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: Failed to allocate", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: Attempting to", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: E0100", ErrorKind::kOutOfMemory},
    Wording{"RESOURCE_EXHAUSTED: E0101", ErrorKind::kOutOfMemory},
    Wording{"CUDA out of memory", ErrorKind::kOutOfMemory},
    Wording{"HIP out of memory", ErrorKind::kOutOfMemory},
    Wording{"Ran out of memory in memory space hbm", ErrorKind::kOutOfMemory},
};

std::optional<ErrorKind> KindByWording(std::string_view text) {
  for (const Wording& wording : kWordings) {
    if (text::Contains(text, wording.part)) return wording.kind;
  }
  return std::nullopt;
}

constexpr std::string_view kContinuatorHalted = "The program continuator has halted unexpectedly";

// Words about a peer that is gone, or of a service that ends all processes because one is gone.
constexpr std::array<std::string_view, 21> kWordsOfVictims = {
    "onnection closed by peer",
    "onnection reset by peer",
    "Gloo ",
    "Failed to send RPC to coordination service",
    "olled an error from coordination service",
    "olled error from coordination service",
    "Use error polling to propagate the following error",
    "tasks are unhealthy (stopped sending heartbeats)",
    "the JAX distributed service detected fatal errors",
    "CoordinationService/PollForError",
    "CoordinationService/RegisterTask",
    "Shutdown barrier",
    "Barrier failed because: task is set to ERROR",
    "DEADLINE_EXCEEDED: Barrier timed out",
    "with a different incarnation",
    // Watchdogs end processes that wait.
    "Watchdog caught collective operation timeout",
    "failure detected by watchdog",
    "we are taking the entire process down",
    "threads to join the rendezvous",
    "DEADLINE_EXCEEDED: GetKeyValue() timed out",
    // Python's own watchdog, with a limit in hours, minutes and seconds.
    "Timeout (0:",
};

// True for the kinds under which lines with such words are filed.
bool IsOfVictims(LogKind kind) {
  return kind == LogKind::kFollowOn || kind == LogKind::kMissedHealthChecks ||
         kind == LogKind::kRestartedPeer || kind == LogKind::kCollectiveStuck ||
         kind == LogKind::kNetwork || kind == LogKind::kCoordinationTimeout;
}

bool HasWordsOfVictims(std::string_view text) {
  return std::any_of(kWordsOfVictims.begin(), kWordsOfVictims.end(),
                     [text](std::string_view words) { return text::Contains(text, words); });
}

// True for a line with which a process ends itself because of another one, or for lack of progress.
bool EndsItsProcess(const LogEvent& event) {
  return IsOfVictims(event.kind) &&
         (text::Contains(event.text, "the JAX distributed service detected fatal errors") ||
          text::Contains(event.text, "Timeout (0:"));
}

// True if the logs of several workers hold such lines: those that still live end for the same
// reason, a moment later.
bool SeveralEndThemselves(const Topology& topology) {
  const auto ends_itself = [](const WorkerInfo& worker) {
    return worker.snapshot != nullptr &&
           std::any_of(worker.snapshot->log_events.begin(), worker.snapshot->log_events.end(),
                       EndsItsProcess);
  };
  return std::count_if(topology.workers().begin(), topology.workers().end(), ends_itself) > 1;
}

// True for a line that merely follows some other failure, under whatever kind it was filed.
bool IsFollowOn(const LogEvent& event) {
  if (text::Contains(event.text, kContinuatorHalted)) return true;
  return event.kind == LogKind::kUncaughtException && HasWordsOfVictims(event.text);
}

bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text::ContainsIgnoreCase(text, part); });
}

bool WasKilled(const Snapshot& snapshot) {
  static constexpr int32_t kSigKill = 9;
  return std::any_of(snapshot.processes.begin(), snapshot.processes.end(),
                     [](const Process& process) {
                       return process.signal == kSigKill || process.exit_code == 128 + kSigKill;
                     });
}

ErrorKind CopyDirection(std::string_view text) {
  const bool down = MentionsAny(text, {"host-to-device", "host to device", "HostToDevice", "H2D",
                                       "TransferToDevice", "to the device"});
  const bool up = MentionsAny(text, {"device-to-host", "device to host", "DeviceToHost", "D2H",
                                     "TransferFromDevice", "from the device"});
  if (down == up) return ErrorKind::kCopyUnclear;
  return down ? ErrorKind::kHostToDevice : ErrorKind::kDeviceToHost;
}

// True if the line says that chips are out of reach, or the port of a server that its process did
// not survive.
// Other lines only warn that an initialisation takes long, or are about a port that a program can
// do without: such a port ends no process.
bool SaysItIsOutOfReach(std::string_view text, const Snapshot& snapshot) {
  if (MentionsAny(text, {"TPU initialization failed", "TPU is already in use",
                         "Couldn't open iommu group", "Couldn't open device"})) {
    return true;
  }
  return MentionsAny(text, {"Failed to add port to server"}) &&
         std::none_of(snapshot.processes.begin(), snapshot.processes.end(), IsAlive);
}

std::optional<ErrorKind> KindOf(const LogEvent& event, const Snapshot& snapshot) {
  switch (event.kind) {
    case LogKind::kKernelHardware:
      return ErrorKind::kKernelHardware;
    case LogKind::kHaltHardware:
      return ErrorKind::kHardwareHalt;
    case LogKind::kChipDriverError:
      return ErrorKind::kChipDriver;
    case LogKind::kHaltNetwork:
      return ErrorKind::kNetworkHalt;
    case LogKind::kHaltPower:
      return ErrorKind::kPower;
    case LogKind::kLaunchGroupMismatch:
      return ErrorKind::kLaunchGroup;
    case LogKind::kCollectiveMismatch:
      return ErrorKind::kCollectiveMismatch;
    case LogKind::kUncaughtException:
      return KindByWording(event.text).value_or(ErrorKind::kException);
    case LogKind::kHaltUser:
    case LogKind::kHaltAssertion:
      return KindByWording(event.text).value_or(ErrorKind::kSoftwareHalt);
    case LogKind::kCoreHalt:
    case LogKind::kFatalProgramError:
      return KindByWording(event.text).value_or(ErrorKind::kOtherHalt);
    case LogKind::kOutOfMemory:
      return ErrorKind::kOutOfMemory;
    case LogKind::kCopyFailed:
      return CopyDirection(event.text);
    case LogKind::kPreempted:
      return ErrorKind::kPreempted;
    // Lines of these kinds name no worker, name other workers, or only say that something stands.
    case LogKind::kUnspecified:
    case LogKind::kHangDetected:
    case LogKind::kMissedHealthChecks:
    case LogKind::kFollowOn:
    case LogKind::kCoordinationTimeout:
    case LogKind::kNicFault:
    case LogKind::kUnknownFlag:
    case LogKind::kBenign:
    case LogKind::kRuntimeVerdict:
    case LogKind::kRestartedPeer:
    case LogKind::kCollectiveStuck:
    case LogKind::kDeviceSlow:
    case LogKind::kInputWait:
    case LogKind::kHungTask:
    case LogKind::kHostCrash:
    case LogKind::kNetwork:
    case LogKind::kProgramRejected:
      return std::nullopt;
    // The kernel ended some process: it was this one, if this one was killed.
    case LogKind::kHostOom:
      return WasKilled(snapshot) ? std::optional(ErrorKind::kOutOfMemory) : std::nullopt;
    case LogKind::kDeviceUnavailable:
      return SaysItIsOutOfReach(event.text, snapshot) ? std::optional(ErrorKind::kDeviceUnavailable)
                                                      : std::nullopt;
  }
  return std::nullopt;
}

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

// After a kill, the rest of a collective receives messages that are not meant for it. A mismatch
// by itself ends the process that meets it by an abort.
bool IsMismatchAfterKill(const std::vector<ErrorEvent>& errors, const ErrorEvent& event) {
  if (event.kind != ErrorKind::kCollectiveMismatch || !event.age_ms.has_value()) return false;
  return std::any_of(errors.begin(), errors.end(), [&](const ErrorEvent& e) {
    const bool killed = e.kind == ErrorKind::kExit && (e.signalled || e.terminated) && !e.of_victim;
    return killed && e.worker != event.worker && e.age_ms.value_or(0) > *event.age_ms;
  });
}

class Reader {
 public:
  explicit Reader(const Topology& topology) : topology_(topology) {
    const int64_t threshold =
        topology.capture().header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
    const auto share_of_threshold = [threshold](double share) {
      return std::max(kAgeErrorMs, static_cast<int64_t>(share * static_cast<double>(threshold)));
    };
    wait_before_failing_ms_ = share_of_threshold(kStepShareOfThreshold);
    idle_before_failing_ms_ = share_of_threshold(kRecentShareOfThreshold);
    somebody_serves_ = std::any_of(
        topology.workers().begin(), topology.workers().end(), [](const WorkerInfo& worker) {
          return worker.snapshot != nullptr &&
                 worker.snapshot->runtime.state == RuntimeState::kServing;
        });
  }

  Timeline Read() {
    MeasureStandstill();
    for (size_t i = 0; i < topology_.workers().size(); ++i) {
      const Snapshot* snapshot = topology_.workers()[i].snapshot;
      if (snapshot == nullptr || topology_.workers()[i].standby) continue;
      ReadLogs(static_cast<int>(i), *snapshot);
      ReadCores(static_cast<int>(i), *snapshot);
      ReadProcesses(static_cast<int>(i), *snapshot);
      ReadRuntime(static_cast<int>(i), *snapshot);
    }
    ReadRestarts();
    std::sort(timeline_.errors.begin(), timeline_.errors.end(),
              [](const ErrorEvent& a, const ErrorEvent& b) {
                return std::tuple(a.worker, a.kind, -a.age_ms.value_or(-1), a.chip, a.text) <
                       std::tuple(b.worker, b.kind, -b.age_ms.value_or(-1), b.chip, b.text);
              });
    ChooseRoots();
    TellNotFirst();
    return std::move(timeline_);
  }

 private:
  void MeasureStandstill() {
    // A runtime that is gone reports an earlier time: use it only if all runtimes are gone.
    std::vector<int64_t> stands;
    std::vector<int64_t> stood_before;
    std::vector<int64_t> waits;
    for (const WorkerInfo& worker : topology_.workers()) {
      if (worker.snapshot == nullptr || worker.standby) continue;
      const bool serves = worker.snapshot->runtime.state == RuntimeState::kServing;
      for (const Core& core : worker.snapshot->cores) {
        if (core.type != CoreType::kTensorCore) continue;
        std::optional<int64_t> stood = core.stuck_ms;
        if (!stood && !core.sequencers.empty()) stood = core.sequencers.front().frozen_ms;
        if (stood) (serves ? stands : stood_before).push_back(*stood);
      }
      if (const auto stood = LongestStandMs(*worker.snapshot)) waits.push_back(*stood);
    }
    if (stands.empty()) stands = std::move(stood_before);
    if (stands.empty()) return;
    timeline_.still_ms = Median(stands);
    waiting_ms_ = waits.empty() ? *timeline_.still_ms : Median(waits);
  }

  static int64_t Median(std::vector<int64_t>& values) {
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  void ReadLogs(int worker, const Snapshot& snapshot) {
    timeline_.hang_declared = timeline_.hang_declared || DeclaredHang(worker);
    for (const LogEvent& log : snapshot.log_events) {
      const std::optional<ErrorKind> kind = KindOf(log, snapshot);
      if (!kind.has_value() || IsFollowOn(log)) continue;
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
          timeline_.errors.push_back(event);
        }
        continue;
      }
      // A driver error names its worker; an error without a name accuses nobody.
      if (*kind == ErrorKind::kChipDriver) continue;
      timeline_.errors.push_back(std::move(event));
    }
  }

  void ReadCores(int worker, const Snapshot& snapshot) {
    for (const Core& core : snapshot.cores) {
      if (!core.error.has_value() || core.error->empty()) continue;
      if (text::Contains(*core.error, kContinuatorHalted)) continue;
      ErrorEvent event;
      event.kind = KindByWording(*core.error).value_or(ErrorKind::kOtherHalt);
      event.worker = worker;
      event.chip = core.chip;
      event.core_type = core.type;
      event.text = Quote(*core.error);
      timeline_.errors.push_back(std::move(event));
    }
  }

  void ReadProcesses(int worker, const Snapshot& snapshot) {
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
      event.aborted = ended_by(kSigAbrt) || ended_by(kSigTrap);
      event.terminated = ended_by(kSigTerm) || ended_by(kSigKill);
      event.succeeded = gone && process.exit_code == 0;
      event.signalled = gone && !event.aborted &&
                        (process.signal.has_value() || process.exit_code.value_or(0) > 128);
      event.unexplained = gone && !process.signal && !process.exit_code;
      if (event.aborted) ++timeline_.aborted;
      event.text = WhatBecameOf(process);
      if (gone) ExplainByObstacles(topology_, event);
      timeline_.errors.push_back(std::move(event));
    }
  }

  // A runtime that answered before does not listen any more, and nothing else is known of its
  // process: so the process has ended. If all runtimes are gone, another rule says the job ended.
  void ReadRuntime(int worker, const Snapshot& snapshot) {
    const bool gone = snapshot.runtime.state == RuntimeState::kUnavailable &&
                      snapshot.processes.empty() && !snapshot.cores.empty();
    if (!gone || !somebody_serves_) return;
    ErrorEvent event;
    event.kind = ErrorKind::kExit;
    event.worker = worker;
    event.unexplained = true;
    event.text = "has ended: nobody listens where its runtime answered before";
    timeline_.errors.push_back(std::move(event));
  }

  // Processes younger than the standstill that run no launch, while those of most others are older:
  // earlier processes have ended. The others have completed launches that did not need them.
  void ReadRestarts() {
    if (!waiting_ms_) return;
    for (const Restart& restart : FindRestarts(topology_, *waiting_ms_ + wait_before_failing_ms_)) {
      if (EndIsKnown(restart)) continue;
      ErrorEvent event;
      event.kind = ErrorKind::kExit;
      event.worker = restart.worker;
      event.age_ms = restart.started_ms_ago;
      event.unexplained = true;
      event.in_recovery = restart.among_others;
      event.text = "has been started anew, and the one before it had ended";
      timeline_.errors.push_back(std::move(event));
    }
  }

  // True if the end of the earlier process is known: the same event, with better evidence.
  bool EndIsKnown(const Restart& restart) const {
    return std::any_of(
        timeline_.errors.begin(), timeline_.errors.end(), [&restart](const ErrorEvent& event) {
          return event.kind == ErrorKind::kExit && event.worker == restart.worker && event.age_ms &&
                 *event.age_ms + kAgeErrorMs >= restart.started_ms_ago &&
                 *event.age_ms - kVictimEndsWithinMs <= restart.started_ms_ago;
        });
  }

  // The time for which the worker's own cores stand in a launch, at the longest. A core that runs
  // nothing waits for no other core.
  std::optional<int64_t> OwnStandMs(int worker) const {
    const Snapshot* snapshot = topology_.worker(worker).snapshot;
    if (snapshot == nullptr) return std::nullopt;
    return LongestStandMs(*snapshot);
  }

  static std::optional<int64_t> LongestStandMs(const Snapshot& snapshot) {
    std::optional<int64_t> longest;
    for (const Core& core : snapshot.cores) {
      if (core.type != CoreType::kTensorCore || core.sequencers.empty()) continue;
      const Sequencer& sequencer = core.sequencers.front();
      const bool runs = sequencer.pc.value_or(0) != 0;
      const std::optional<int64_t> stood =
          sequencer.frozen_ms.has_value() ? sequencer.frozen_ms : core.stuck_ms;
      if (runs && stood && (!longest || *stood > *longest)) longest = stood;
    }
    return longest;
  }

  // True if the error came of the standstill: the worker's own cores had stood still clearly
  // before it. A host without a launch may have been slow for a while, with others waiting for it,
  // before it fails: then the job has to have stood for about as long as a hang takes.
  bool IsAfterStandstill(const ErrorEvent& event) const {
    if (!event.age_ms) return false;
    if (const std::optional<int64_t> own = OwnStandMs(event.worker)) {
      return *event.age_ms + wait_before_failing_ms_ < *own;
    }
    return waiting_ms_ && *event.age_ms + idle_before_failing_ms_ < *waiting_ms_;
  }

  bool IsLongBeforeStandstill(const ErrorEvent& event) const {
    return event.age_ms && timeline_.still_ms && event.kind != ErrorKind::kKernelHardware &&
           event.kind != ErrorKind::kPreempted &&
           *event.age_ms > 2 * *timeline_.still_ms + kOldNewsMs;
  }

  bool IsGone(int worker) const {
    const Snapshot* snapshot = topology_.worker(worker).snapshot;
    if (snapshot == nullptr || snapshot->runtime.state == RuntimeState::kUnavailable) return true;
    return std::any_of(
        snapshot->processes.begin(), snapshot->processes.end(), [](const Process& process) {
          return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
        });
  }

  // True if its training process lives, whether or not any runtime answers.
  bool Lives(int worker) const {
    const Snapshot* snapshot = topology_.worker(worker).snapshot;
    return snapshot != nullptr &&
           std::any_of(snapshot->processes.begin(), snapshot->processes.end(),
                       [](const Process& process) { return IsAlive(process); });
  }

  // True if the page, which is kept up to date, shows that the training loop is still in the phase
  // in which it was at the error.
  bool EnteredNothingAfter(const Snapshot& snapshot, const ErrorEvent& event) const {
    if (!snapshot.progress.has_value() || !snapshot.progress->phase_ms.has_value()) return false;
    const int64_t entered_ms = *snapshot.progress->phase_ms;
    const int64_t threshold =
        topology_.capture().header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
    return event.age_ms && entered_ms > *event.age_ms && entered_ms < threshold;
  }

  // True if a launch completed after the error, the training loop entered its phase after it, or
  // the main thread still stands in the program, which an exception would have left.
  bool WentOnAfter(const ErrorEvent& event) const {
    const Snapshot* snapshot = topology_.worker(event.worker).snapshot;
    if (snapshot == nullptr || !Lives(event.worker)) return false;
    const auto later = [&event](const std::optional<int64_t>& age_ms) {
      return age_ms && event.age_ms && *age_ms + kAgeErrorMs < *event.age_ms;
    };
    if (snapshot->progress.has_value() && later(snapshot->progress->phase_ms)) return true;
    // Launches that were queued before the error are still completed after it.
    if (!RanOut(*snapshot) && !EnteredNothingAfter(*snapshot, event) &&
        std::any_of(snapshot->cores.begin(), snapshot->cores.end(),
                    [&](const Core& core) { return later(core.stuck_ms); })) {
      return true;
    }
    if (event.kind != ErrorKind::kException) return false;
    const std::vector<const Stack*> stacks = LoopStacks(*snapshot);
    return std::any_of(stacks.begin(), stacks.end(), [](const Stack* stack) {
      return std::any_of(stack->frames.begin(), stack->frames.end(), [](const std::string& frame) {
        return text::Contains(frame, "<module>");
      });
    });
  }

  bool DeclaredHang(int worker) const {
    const Snapshot* snapshot = topology_.worker(worker).snapshot;
    return snapshot != nullptr &&
           (snapshot->hang_report.has_value() ||
            std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(),
                        [](const LogEvent& log) { return log.kind == LogKind::kHangDetected; }));
  }

  // True for aborts after the runtime declared the hang; and for aborts of many, unless this one
  // ended earlier than the others by far.
  bool IsAbortAfterHang(const ErrorEvent& event) const {
    // An observer that came too late knows no signal: a process whose own runtime had
    // declared the hang lived until then, and ended as the others did.
    if (event.unexplained && DeclaredHang(event.worker)) return true;
    if (!event.aborted) return false;
    if (timeline_.aborted >= 2) return !IsEarliestExitByFar(event);
    return timeline_.hang_declared;
  }

  // True for an end by a status or an abort after words of a victim, when another worker is gone,
  // however early; or by the launcher that then ends all tasks, but not by the platform. Other
  // signals are no echo.
  bool IsEndOfVictim(const ErrorEvent& event) const {
    const bool told = event.kind == ErrorKind::kPreempted || event.terminated;
    if ((event.kind != ErrorKind::kExit && !told) || event.beyond_job) return false;
    if ((event.signalled && !told) || event.unexplained) return false;
    const Snapshot* snapshot = topology_.worker(event.worker).snapshot;
    if (event.succeeded || !event.age_ms || snapshot == nullptr) return false;
    return std::any_of(snapshot->log_events.begin(), snapshot->log_events.end(),
                       [&](const LogEvent& log) {
                         // A warning that names another worker ends no process.
                         if (!IsOfVictims(log.kind) || !HasWordsOfVictims(log.text)) return false;
                         // For a signal, the words come first: a process that is told to end
                         // loses its peers afterwards, too.
                         if (told && (!log.age_ms || *log.age_ms < *event.age_ms)) return false;
                         return log.age_ms && *log.age_ms <= *event.age_ms + kVictimEndsWithinMs;
                       });
  }

  // Takes the ends of victims out of the roots, if there is a failure that they can have
  // followed: another root, a worker of which nothing is known, another victim.
  void DropVictims() {
    std::vector<int> others;
    std::vector<int> victims;
    for (int root : timeline_.roots) {
      (timeline_.errors[static_cast<size_t>(root)].of_victim ? victims : others).push_back(root);
    }
    const bool missing =
        std::any_of(topology_.workers().begin(), topology_.workers().end(),
                    [](const WorkerInfo& worker) { return worker.snapshot == nullptr; });
    const bool alone = others.empty() && victims.size() == 1 && !missing;
    if (victims.empty() || (alone && !SeveralEndThemselves(topology_))) return;
    timeline_.roots = std::move(others);
    for (int victim : victims) {
      Note(timeline_.errors[static_cast<size_t>(victim)],
           "its log says that a peer or the coordination service was gone before");
    }
  }

  bool IsEarliestExitByFar(const ErrorEvent& event) const {
    return event.age_ms && event.age_ms == oldest_exit_ &&
           (!second_exit_ || *event.age_ms > *second_exit_ + kAgeErrorMs) &&
           !timeline_.hang_declared;
  }

  void RankExits() {
    for (const ErrorEvent& event : timeline_.errors) {
      if (event.kind != ErrorKind::kExit || !event.age_ms) continue;
      if (!oldest_exit_ || *event.age_ms > *oldest_exit_) {
        second_exit_ = oldest_exit_;
        oldest_exit_ = event.age_ms;
      } else if (!second_exit_ || *event.age_ms > *second_exit_) {
        second_exit_ = event.age_ms;
      }
    }
  }

  void ChooseRoots() {
    RankExits();
    auto& errors = timeline_.errors;
    for (ErrorEvent& event : errors) event.of_victim = IsEndOfVictim(event);
    for (size_t i = 0; i < errors.size(); ++i) {
      // Errors of one worker are adjacent, the most specific first.
      const bool repeats =
          !timeline_.roots.empty() &&
          errors[static_cast<size_t>(timeline_.roots.back())].worker == errors[i].worker;
      if (repeats) continue;
      if (IsAbortAfterHang(errors[i])) {
        Note(errors[i], "an abort after the runtime declared the hang");
      } else if (IsAfterStandstill(errors[i]) && errors[i].kind != ErrorKind::kKernelHardware) {
        Note(errors[i], "younger than the standstill");
      } else if (IsLongBeforeStandstill(errors[i])) {
        Note(errors[i], "the job went on for long after it");
      } else if (IsMismatchAfterKill(errors, errors[i])) {
        Note(errors[i], "a peer had been killed before");
      } else if (errors[i].kind == ErrorKind::kPreempted &&
                 (!IsGone(errors[i].worker) || Lives(errors[i].worker))) {
        Note(errors[i], "a notice alone, its worker is still there");
      } else if ((errors[i].kind == ErrorKind::kException ||
                  errors[i].kind == ErrorKind::kDeviceUnavailable) &&
                 WentOnAfter(errors[i])) {
        Note(errors[i], "its training loop went on after it");
      } else {
        timeline_.roots.push_back(static_cast<int>(i));
      }
    }
    DropVictims();
    const auto age = [&](int root) { return WorkerAge(errors[static_cast<size_t>(root)].worker); };
    std::optional<int64_t> oldest;
    for (int root : timeline_.roots) {
      if (age(root) && (!oldest || *age(root) > *oldest)) oldest = age(root);
    }
    // A root without an age has no order, and counts as first.
    const auto first_end = std::stable_partition(
        timeline_.roots.begin(), timeline_.roots.end(),
        [&](int root) { return !oldest || !age(root) || *age(root) + kAgeErrorMs >= *oldest; });
    timeline_.first_count = static_cast<int>(first_end - timeline_.roots.begin());
  }

  // The time at which failures began on a worker: the oldest of its errors counts for
  // the most specific one.
  std::optional<int64_t> WorkerAge(int worker) const {
    std::optional<int64_t> oldest;
    auto it = std::lower_bound(timeline_.errors.begin(), timeline_.errors.end(), worker,
                               [](const ErrorEvent& e, int w) { return e.worker < w; });
    for (; it != timeline_.errors.end() && it->worker == worker; ++it) {
      if (it->age_ms && (!oldest || *it->age_ms > *oldest)) oldest = it->age_ms;
    }
    return oldest;
  }

  void Note(const ErrorEvent& event, const std::string& why) {
    std::vector<int>& workers = not_first_[{event.text, why}];
    if (workers.empty() || workers.back() != event.worker) workers.push_back(event.worker);
  }

  // Merges equal reasons, because thousands of workers may have the same.
  void TellNotFirst() {
    for (const auto& [what, workers] : not_first_) {
      if (timeline_.reasons.size() >= kMaxChainLines) return;
      timeline_.reasons.push_back(
          absl::StrCat(what.first, " on ", WhoAll(topology_, workers), ": ", what.second));
    }
  }

  const Topology& topology_;
  Timeline timeline_;
  // The median time for which workers in a launch stand, or else all workers.
  std::optional<int64_t> waiting_ms_;
  // The longest time for which a core may stand, or a host rest, in a job that still works.
  int64_t wait_before_failing_ms_ = 0;
  int64_t idle_before_failing_ms_ = 0;
  bool somebody_serves_ = false;
  std::optional<int64_t> oldest_exit_;
  std::optional<int64_t> second_exit_;
  std::map<std::pair<std::string, std::string>, std::vector<int>> not_first_;  // text, why
};

}  // namespace

Timeline BuildTimeline(const Topology& topology) { return Reader(topology).Read(); }

}  // namespace rapideye::classifier
