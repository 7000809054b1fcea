// How often something worth knowing happened; limits that bite show here.
#ifndef RAPIDEYE_COORDINATOR_CORE_COUNTERS_H_
#define RAPIDEYE_COORDINATOR_CORE_COUNTERS_H_

#include <cstdint>

namespace rapideye::coordinator {

struct Counters {
  int64_t hellos_admitted = 0;
  int64_t hellos_refused = 0;
  int64_t hello_timeouts = 0;    // streams that never said who they are
  int64_t superseded = 0;        // streams replaced by a newer agent
  int64_t messages_refused = 0;  // that broke the protocol; each cost a stream
  int64_t floods = 0;            // streams that sent faster than allowed
  int64_t alarms = 0;            // raised by workers
  int64_t job_restarts = 0;
  int64_t suspicions = 0;             // collections begun
  int64_t recovered_in_between = 0;   // of these: launches completed after all
  int64_t incidents = 0;              // of these: hangs
  int64_t recalled = 0;               // incidents of a coordinator before this one
  int64_t snapshots_requested = 0;    // by operators
  int64_t snapshots_taken = 0;        // collections for these; several may share one
  int64_t snapshots_over_budget = 0;  // workers left out of a collection
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COUNTERS_H_
