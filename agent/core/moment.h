// The time, as the core is told it.
#ifndef RAPIDEYE_AGENT_CORE_MOMENT_H_
#define RAPIDEYE_AGENT_CORE_MOMENT_H_

#include "absl/time/time.h"

namespace rapideye::agent {

struct Moment {
  // Since an arbitrary origin; never goes back. All ages come from it.
  absl::Duration monotonic;
  // For people to read; may be stepped at any time.
  absl::Time wall;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_MOMENT_H_
