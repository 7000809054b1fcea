#include "agent/sources/source.h"

#include "absl/strings/str_cat.h"

namespace rapideye::agent {

std::string NameProcess(const ProcessId& process) {
  return absl::StrCat(process.pid, "@", process.start_ticks);
}

void UnavailableWarning::Observe(const std::string& why, Notices& notices) {
  if (why.empty() || why == warned_) return;
  warned_ = why;
  notices.warnings.push_back(absl::StrCat(what_, ": ", why));
}

}  // namespace rapideye::agent
