#include "agent/core/incarnation.h"

#include "absl/strings/str_cat.h"

namespace rapideye::agent {

bool IsNewProcess(const ProcessSigns& signs) {
  if (signs.counters_restarted) return true;
  if (signs.process_before.has_value() && signs.process_now.has_value()) {
    return *signs.process_before != *signs.process_now;
  }
  if (signs.runtime_was_gone) return true;
  return signs.host_name_before.has_value() && signs.host_name_now.has_value() &&
         *signs.host_name_before != *signs.host_name_now;
}

std::string NameIncarnation(const std::string& prefix, int64_t count, const ProcessSigns& signs) {
  if (!signs.process_now.has_value()) return absl::StrCat(prefix, ".", count);
  const std::string name = NameProcess(*signs.process_now);
  return signs.process_before == signs.process_now ? absl::StrCat(name, ".", count) : name;
}

}  // namespace rapideye::agent
