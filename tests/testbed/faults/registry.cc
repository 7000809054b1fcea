#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {

const std::vector<Fault>& Faults() {
  static const auto& faults = *new std::vector<Fault>{
      kChipStop,     kCoreLoop,         kCoreHalt,    kSparseCoreStop, kLaunchOrder,      kLinkCut,
      kOtherProgram, kOtherCompilation, kOtherFlags,  kOtherSource,    kProgramNotQueued, kInputDry,
      kCheckpoint,   kProcessKill,      kProcessStop, kProcessExit,    kOutOfMemory};
  return faults;
}

absl::Status ApplyFault(const ControlLine& line, Worker& worker) {
  std::string known;
  for (const Fault& fault : Faults()) {
    if (fault.name == line.subject) return fault.apply(line, worker);
    absl::StrAppend(&known, known.empty() ? "" : ", ", fault.name);
  }
  return absl::NotFoundError(absl::StrCat("'", line.subject, "' is no fault, give one of ", known));
}

}  // namespace rapideye::testbed
