// RemovalCounts counts decisions and hooks of a process that removes machines, since its start.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_COUNTS_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_COUNTS_H_

#include <cstdint>

namespace rapideye::coordinator {

struct RemovalCounts {
  int64_t removes = 0;  // decisions, in the mode of this process
  int64_t watches = 0;
  int64_t refusals = 0;
  int64_t hooks_succeeded = 0;
  int64_t hooks_failed = 0;    // runs that are tried again
  int64_t hooks_given_up = 0;  // hooks whose work is left to an operator
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVAL_COUNTS_H_
