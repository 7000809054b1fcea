#include "classifier/errors/error_kind.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "classifier/errors/restarts.h"
#include "classifier/host/watchdog.h"
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

constexpr std::string_view kContinuatorHalted = "The program continuator has halted unexpectedly";

// Words about a peer that is gone, or of a service that ends all processes because one is gone.
constexpr std::array<std::string_view, 20> kWordsOfVictims = {
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
};

// True for the kinds under which lines with such words are filed.
bool IsKindOfVictims(LogKind kind) {
  return kind == LogKind::kFollowOn || kind == LogKind::kMissedHealthChecks ||
         kind == LogKind::kRestartedPeer || kind == LogKind::kCollectiveStuck ||
         kind == LogKind::kNetwork || kind == LogKind::kCoordinationTimeout;
}

bool HasWordsOfVictims(std::string_view text) {
  return IsPythonsTimeout(text) ||
         std::any_of(kWordsOfVictims.begin(), kWordsOfVictims.end(),
                     [text](std::string_view words) { return text::Contains(text, words); });
}

bool IsGone(const Process& process) {
  return process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
}

// True for a line that merely follows some other failure, under whatever kind it was filed.
bool IsFollowOn(const LogEvent& event) {
  if (IsContinuatorHalt(event.text)) return true;
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

// Lines write the direction in many ways: "host-to-device", "from host to TPU", "H2D",
// "TransferFromDevice".
ErrorKind CopyDirection(std::string_view text) {
  const bool down =
      MentionsAny(text, {"host-to-", "host to ", "hosttodevice", "h2d", "htod", "todevice",
                         "to device", "to the device", "to tpu", "to the tpu", "to hbm"});
  const bool up = MentionsAny(text, {"-to-host", " to host", "tohost", " to the host", "d2h",
                                     "dtoh", "fromdevice", "from device", "from the device"});
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

std::optional<ErrorKind> KindAsFiled(const LogEvent& event, const Snapshot& snapshot) {
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

}  // namespace

std::optional<ErrorKind> KindByWording(std::string_view text) {
  for (const Wording& wording : kWordings) {
    if (text::Contains(text, wording.part)) return wording.kind;
  }
  return std::nullopt;
}

std::optional<ErrorKind> KindOfLine(const LogEvent& event, const Snapshot& snapshot) {
  const std::optional<ErrorKind> kind = KindAsFiled(event, snapshot);
  return kind.has_value() && IsFollowOn(event) ? std::nullopt : kind;
}

bool IsContinuatorHalt(std::string_view text) { return text::Contains(text, kContinuatorHalted); }

bool IsOfVictim(const LogEvent& event) {
  return IsKindOfVictims(event.kind) && HasWordsOfVictims(event.text);
}

bool EndsItsProcess(const LogEvent& event) {
  return AbortsItsProcess(event) || IsOfWatchdog(event);
}

bool AbortsItsProcess(const LogEvent& event) {
  return IsKindOfVictims(event.kind) &&
         (text::Contains(event.text, "Terminating process because the ") ||
          text::Contains(event.text, "we are taking the entire process down"));
}

EndByWords EndByWordsOf(const Process& process, const Snapshot& snapshot) {
  if (!IsGone(process) || process.signal.has_value() || process.exit_code.has_value()) {
    return EndByWords::kNone;
  }
  for (const LogEvent& event : snapshot.log_events) {
    const bool terminates = IsKindOfVictims(event.kind) &&
                            text::Contains(event.text, "terminate called after throwing");
    if (terminates || AbortsItsProcess(event)) return EndByWords::kAbort;
  }
  return EndedByWatchdog(process, snapshot) ? EndByWords::kWatchdog : EndByWords::kNone;
}

}  // namespace rapideye::classifier
