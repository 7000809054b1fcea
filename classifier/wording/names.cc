#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "classifier/verdict/verdict.h"

namespace rapideye {
namespace {

constexpr std::pair<Detail, std::string_view> kDetailNames[] = {
    {Detail::kNone, ""},
    {Detail::kTensorCore, "TENSOR_CORE"},
    {Detail::kSparseCore, "SPARSE_CORE"},
    {Detail::kGpu, "GPU"},
    {Detail::kDcnLink, "DCN_LINK"},
    {Detail::kDcnHost, "DCN_HOST"},
    {Detail::kDcnPartition, "DCN_PARTITION"},
    {Detail::kIciLink, "ICI_LINK"},
    {Detail::kModuleDivergence, "MODULE_DIVERGENCE"},
    {Detail::kLaunchOrder, "LAUNCH_ORDER"},
    {Detail::kInputPipeline, "INPUT_PIPELINE"},
    {Detail::kProgramNotQueued, "PROGRAM_NOT_QUEUED"},
    {Detail::kCoreHalt, "CORE_HALT"},
    {Detail::kProcessExit, "PROCESS_EXIT"},
    {Detail::kProcessStopped, "PROCESS_STOPPED"},
    {Detail::kWorkerLost, "WORKER_LOST"},
    {Detail::kHostToDevice, "HOST_TO_DEVICE"},
    {Detail::kDeviceToHost, "DEVICE_TO_HOST"},
    {Detail::kOutOfMemory, "OUT_OF_MEMORY"},
    {Detail::kPower, "POWER"},
    {Detail::kPreempted, "PREEMPTED"},
    {Detail::kDeviceUnavailable, "DEVICE_UNAVAILABLE"},
    {Detail::kNotStarted, "NOT_STARTED"},
    {Detail::kConfiguration, "CONFIGURATION"},
    {Detail::kCoordinationService, "COORDINATION_SERVICE"},
    {Detail::kOther, "OTHER"},
    {Detail::kRunning, "RUNNING"},
    {Detail::kPaused, "PAUSED"},
    {Detail::kStarting, "STARTING"},
    {Detail::kEnded, "ENDED"},
};
static_assert(std::size(kDetailNames) == static_cast<size_t>(Detail::kEnded) + 1,
              "each detail has a name");

}  // namespace

std::string_view CauseName(Cause cause) {
  switch (cause) {
    case Cause::kNoHang:
      return "NO_HANG";
    case Cause::kBadTpuChip:
      return "BAD_TPU_CHIP";
    case Cause::kNetworkingIssue:
      return "NETWORKING_ISSUE";
    case Cause::kDifferentModule:
      return "DIFFERENT_MODULE";
    case Cause::kFingerprintMismatch:
      return "FINGERPRINT_MISMATCH";
    case Cause::kDataInputStall:
      return "DATA_INPUT_STALL";
    case Cause::kUnrecoverableError:
      return "UNRECOVERABLE_ERROR";
    case Cause::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view DetailName(Detail detail) {
  for (const auto& [one, name] : kDetailNames) {
    if (one == detail) return name;
  }
  return "";
}

std::string_view HostActivityName(HostActivity activity) {
  switch (activity) {
    case HostActivity::kCheckpointSave:
      return "CHECKPOINT_SAVE";
    case HostActivity::kCheckpointRestore:
      return "CHECKPOINT_RESTORE";
    case HostActivity::kStorageRead:
      return "STORAGE_READ";
    case HostActivity::kCompilation:
      return "COMPILATION";
    case HostActivity::kBarrier:
      return "BARRIER";
    case HostActivity::kLock:
      return "LOCK";
    case HostActivity::kRetry:
      return "RETRY";
    case HostActivity::kGarbageCollection:
      return "GARBAGE_COLLECTION";
    case HostActivity::kInput:
      return "INPUT";
    case HostActivity::kStartUp:
      return "START_UP";
    case HostActivity::kShutdown:
      return "SHUTDOWN";
    case HostActivity::kPaused:
      return "PAUSED";
    case HostActivity::kOther:
      return "OTHER";
  }
  return "";
}

std::string_view WhyNotName(WhyNot why) {
  switch (why) {
    case WhyNot::kLessCertain:
      return "LESS_CERTAIN";
    case WhyNot::kTooUncertain:
      return "TOO_UNCERTAIN";
    case WhyNot::kFailure:
      return "FAILURE";
    case WhyNot::kNotStarted:
      return "NOT_STARTED";
    case WhyNot::kAbsence:
      return "ABSENCE";
    case WhyNot::kBrokenLink:
      return "BROKEN_LINK";
    case WhyNot::kPause:
      return "PAUSE";
    case WhyNot::kContradiction:
      return "CONTRADICTION";
    case WhyNot::kProgress:
      return "PROGRESS";
    case WhyNot::kNoCoresKnown:
      return "NO_CORES_KNOWN";
    case WhyNot::kNoCoreStandsOut:
      return "NO_CORE_STANDS_OUT";
    case WhyNot::kHostsStandOut:
      return "HOSTS_STAND_OUT";
    case WhyNot::kNoLinksKnown:
      return "NO_LINKS_KNOWN";
    case WhyNot::kLinksWork:
      return "LINKS_WORK";
    case WhyNot::kLinksNotAwaited:
      return "LINKS_NOT_AWAITED";
    case WhyNot::kNoProgramsKnown:
      return "NO_PROGRAMS_KNOWN";
    case WhyNot::kSamePrograms:
      return "SAME_PROGRAMS";
    case WhyNot::kProgramsCanMeet:
      return "PROGRAMS_CAN_MEET";
    case WhyNot::kOneFingerprint:
      return "ONE_FINGERPRINT";
    case WhyNot::kNotOneLaunch:
      return "NOT_ONE_LAUNCH";
    case WhyNot::kEveryHostQueued:
      return "EVERY_HOST_QUEUED";
    case WhyNot::kNobodyFailed:
      return "NOBODY_FAILED";
    case WhyNot::kFailuresFollow:
      return "FAILURES_FOLLOW";
    case WhyNot::kMissingNotNeeded:
      return "MISSING_NOT_NEEDED";
    case WhyNot::kNothingCompletes:
      return "NOTHING_COMPLETES";
  }
  return "LESS_CERTAIN";
}

std::string_view StrengthName(Strength strength) {
  switch (strength) {
    case Strength::kDirect:
      return "DIRECT";
    case Strength::kStrong:
      return "STRONG";
    case Strength::kWeak:
      return "WEAK";
  }
  return "WEAK";
}

std::string_view ReasonKindName(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::kWaits:
      return "WAITS";
    case ReasonKind::kHead:
      return "HEAD";
    case ReasonKind::kFor:
      return "FOR";
    case ReasonKind::kAgainst:
      return "AGAINST";
    case ReasonKind::kRuledOut:
      return "RULED_OUT";
    case ReasonKind::kDecision:
      return "DECISION";
  }
  return "DECISION";
}

}  // namespace rapideye
