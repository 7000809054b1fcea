#include "digest/wording.h"

namespace rapideye::digest {

const char* Headline(Cause cause, Detail detail) {
  switch (cause) {
    case Cause::kNoHang:
      if (detail == Detail::kEnded) return "No hang: the job has ended.";
      if (detail == Detail::kStarting) return "No hang: the job is starting.";
      if (detail == Detail::kPaused) return "No hang: the job pauses.";
      return "No hang: the job makes progress.";
    case Cause::kBadTpuChip:
      return "Megascale detects a hang that is likely caused by bad TPU chips on the following "
             "hosts. Please remove the hosts from the fleet and restart the workload. If problem "
             "persists please contact Megascale XLA team.";
    case Cause::kNetworkingIssue:
      return "Megascale detects a hang that is likely caused by a networking issue. Please examine "
             "the underlying networking stack for the following hosts.";
    case Cause::kDifferentModule:
      return "Megascale detects a hang that is likely caused by running different modules on "
             "different devices. Please confirm that all workers is running the exact same "
             "program. It can also be caused by a hang in a subset of devices and the unaffected "
             "devices have moved on to the next program. Please inspect the digest below to "
             "further root cause the hang.";
    case Cause::kFingerprintMismatch:
      return "Megascale detects a hang that is likely caused by inconsistent HLO module "
             "compilation across workers. This is likely a bug in JAX tracing or XLA compiler. "
             "Please inspect the HLO dumps to confirm the root cause.";
    case Cause::kDataInputStall:
      return "Megascale detects a hang that is likely caused by data input stall on the following "
             "hosts. Please check the workers to make sure the data input pipeline is working "
             "properly.";
    case Cause::kUnrecoverableError:
      return "Some workers have halted with an unrecoverable error:";
    case Cause::kUnknown:
      break;
  }
  return "Megascale detects a hang but cannot determine the root cause. Please inspect the full "
         "digest below.";
}

const char* HostsPrefix(Cause cause) {
  switch (cause) {
    case Cause::kBadTpuChip:
      return "The host that have bad TPUs are: ";
    case Cause::kNetworkingIssue:
      return "The hosts are: ";
    case Cause::kDifferentModule:
      return "Example hosts that have different HLO modules: ";
    case Cause::kFingerprintMismatch:
      return "Example hosts that have different HLO fingerprints: ";
    case Cause::kDataInputStall:
      return "The host that have data input stalls are: ";
    case Cause::kNoHang:
    case Cause::kUnrecoverableError:
    case Cause::kUnknown:
      break;
  }
  return "";
}

const char* PotentialCause(Cause cause, Detail detail) {
  switch (cause) {
    case Cause::kNoHang:
      return "None";
    case Cause::kBadTpuChip:
      return detail == Detail::kGpu ? "Bad GPUs" : "Bad TPU chips";
    case Cause::kNetworkingIssue:
      return "Networking issue";
    case Cause::kDifferentModule:
      return "Different module";
    case Cause::kFingerprintMismatch:
      return "Fingerprint mismatch";
    case Cause::kDataInputStall:
      return "Data input stall";
    case Cause::kUnrecoverableError:
      return "Unrecoverable error";
    case Cause::kUnknown:
      break;
  }
  return "Unknown";
}

const char* FirstErrorName(FirstErrorType type) {
  switch (type) {
    case FirstErrorType::kHangDetected:
      return "HANG_DETECTED";
    case FirstErrorType::kUnrecoverableError:
      return "UNRECOVERABLE_ERROR";
    case FirstErrorType::kCancelled:
      return "CANCELLED";
  }
  return "HANG_DETECTED";
}

const char* CoreTypeName(CoreType type) {
  switch (type) {
    case CoreType::kUnspecified:
      return "";
    case CoreType::kTensorCore:
      return "TENSOR_CORE";
    case CoreType::kSparseCoreV0:
      return "SPARSE_CORE_V0";
    case CoreType::kSparseCore:
      return "SPARSE_CORE";
  }
  return "";
}

}  // namespace rapideye::digest
