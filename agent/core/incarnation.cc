#include "agent/core/incarnation.h"

namespace rapideye::agent {

bool IsNewProcess(const ProcessSigns& signs) {
  if (signs.counters_restarted || signs.runtime_was_gone) return true;
  return signs.host_name_before.has_value() && signs.host_name_now.has_value() &&
         *signs.host_name_before != *signs.host_name_now;
}

}  // namespace rapideye::agent
