// ErrorEvent holds one error of a process, a core or a host, and when it happened.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_ERROR_EVENT_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_ERROR_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// The most specific kind first: if a worker shows several, the first kind names its error.
enum class ErrorKind {
  kKernelHardware,
  kHardwareHalt,
  kChipDriver,
  kNetworkHalt,
  kPower,
  kLaunchGroup,
  kCollectiveMismatch,
  kSoftwareHalt,
  kOutOfMemory,
  kHostToDevice,
  kDeviceToHost,
  kCopyUnclear,
  kDeviceUnavailable,  // its chips or its port are another process's, absent or not permitted
  kConfiguration,      // its runtime refuses the job's configuration
  kPreempted,
  kStopped,
  kOtherHalt,
  kException,  // uncaught: it ended the program, though the process may live on
  kExit,
};

struct ErrorEvent {
  ErrorKind kind = ErrorKind::kExit;
  int worker = 0;  // the worker concerned; another one may have logged it
  std::optional<int32_t> chip;
  CoreType core_type = CoreType::kUnspecified;
  std::optional<int64_t> age_ms;
  bool by_host = false;      // from the kernel's log, or the platform's word
  bool beyond_job = false;   // the same, by an agent out of the job's reach
  bool aborted = false;      // an exit by SIGABRT, or by SIGTRAP as a fatal check ends
  bool signalled = false;    // an exit by any other signal
  bool terminated = false;   // by SIGTERM, or by SIGKILL, which ends a grace period
  bool succeeded = false;    // an exit with status 0
  bool unexplained = false;  // an exit of which neither status nor signal is known
  bool of_victim = false;    // an end after words of a victim: see IsEndOfVictim
  bool in_recovery = false;  // others were started anew, too, and which of them first is not known
  std::string text;          // the text to quote, bounded
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_ERROR_EVENT_H_
