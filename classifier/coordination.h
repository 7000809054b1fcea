// Reads what JAX's coordination service says of barriers and of tasks without heartbeats, and
// whether a line tells of somebody else's failure at all.
#ifndef RAPIDEYE_CLASSIFIER_COORDINATION_H_
#define RAPIDEYE_CLASSIFIER_COORDINATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/topology.h"

namespace rapideye::classifier {

// A barrier that ended by its time-out. Workers are indexes into Topology::workers().
struct FailedBarrier {
  std::string id;
  bool of_shutdown = false;  // where processes wait for each other at their end
  int reporter = 0;          // whose log says so
  int came = 0;              // how many
  std::optional<int> first;  // who came first
  std::vector<int> absent;   // sorted; the service names some of them only
  bool all_named = false;    // absent holds everybody who did not come
};

// Each once, by id. Reports that do not fit the job (another number of tasks) are left
// out: whoever they name is somebody else.
std::vector<FailedBarrier> FailedBarriers(const Topology& topology);

// Workers that the service has declared dead for want of heartbeats, and RestartedTasks;
// sorted.
std::vector<int> WithoutHeartbeats(const Topology& topology);

// Workers that came back as another incarnation while the service still knew the one before,
// sorted: that one has ended.
std::vector<int> RestartedTasks(const Topology& topology);

// A follow-on that tells of somebody else's failure, rather than of how its own process fell or
// was ended.
bool SaysAnotherFailed(const LogEvent& log);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_COORDINATION_H_
