#include "classifier/verdict.h"

namespace rapideye {

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
  switch (detail) {
    case Detail::kNone:
      return "";
    case Detail::kTensorCore:
      return "TENSOR_CORE";
    case Detail::kSparseCore:
      return "SPARSE_CORE";
    case Detail::kGpu:
      return "GPU";
    case Detail::kDcnLink:
      return "DCN_LINK";
    case Detail::kDcnHost:
      return "DCN_HOST";
    case Detail::kDcnPartition:
      return "DCN_PARTITION";
    case Detail::kIciLink:
      return "ICI_LINK";
    case Detail::kModuleDivergence:
      return "MODULE_DIVERGENCE";
    case Detail::kLaunchOrder:
      return "LAUNCH_ORDER";
    case Detail::kInputPipeline:
      return "INPUT_PIPELINE";
    case Detail::kProgramNotQueued:
      return "PROGRAM_NOT_QUEUED";
    case Detail::kCoreHalt:
      return "CORE_HALT";
    case Detail::kProcessExit:
      return "PROCESS_EXIT";
    case Detail::kProcessStopped:
      return "PROCESS_STOPPED";
    case Detail::kWorkerLost:
      return "WORKER_LOST";
    case Detail::kHostToDevice:
      return "HOST_TO_DEVICE";
    case Detail::kDeviceToHost:
      return "DEVICE_TO_HOST";
    case Detail::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case Detail::kPower:
      return "POWER";
    case Detail::kPreempted:
      return "PREEMPTED";
    case Detail::kDeviceUnavailable:
      return "DEVICE_UNAVAILABLE";
    case Detail::kNotStarted:
      return "NOT_STARTED";
    case Detail::kConfiguration:
      return "CONFIGURATION";
    case Detail::kCoordinationService:
      return "COORDINATION_SERVICE";
    case Detail::kOther:
      return "OTHER";
    case Detail::kRunning:
      return "RUNNING";
    case Detail::kPaused:
      return "PAUSED";
    case Detail::kStarting:
      return "STARTING";
    case Detail::kEnded:
      return "ENDED";
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
