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
  int64_t takeovers = 0;         // streams replaced by a newer one of the same agent
  int64_t duplicate_agents = 0;  // hellos refused: another agent speaks for the worker
  int64_t foreign_agents = 0;    // hellos refused: another certificate does
  int64_t streams_refused = 0;   // before they said anything: certificate, limit
  int64_t cut_off = 0;           // streams that do not read, or whose bytes do not fit
  int64_t silent_streams = 0;    // agents that stopped talking
  int64_t unlogged_lines = 0;    // about refused peers, beyond the limit
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
  int64_t probes_asked = 0;           // of agents, of other workers
  int64_t snapshots_over_budget = 0;  // workers left out of a collection
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COUNTERS_H_
