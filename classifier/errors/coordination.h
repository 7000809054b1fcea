// Reads the messages of JAX's coordination service on barriers and on tasks without heartbeats,
// those of the TPU runtime and of Ray on machines that fail health checks, and whether a line
// reports another worker's failure at all.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_COORDINATION_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_COORDINATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

// A barrier that ended by its time-out. Workers are indexes into Topology::workers().
struct FailedBarrier {
  std::string id;
  bool of_start_up = false;  // where processes wait for the job to be complete
  bool of_shutdown = false;  // where processes wait for each other at their end
  int reporter = 0;          // the worker whose log reports the barrier
  // Age of the youngest report; absent: no report tells its time.
  std::optional<int64_t> age_ms;
  int came = 0;              // how many workers came
  std::optional<int> first;  // the worker that came first
  std::vector<int> absent;   // sorted; the service names some of them only
  bool all_named = false;    // `absent` lists every worker that did not come
};

// Lists each barrier once, by id. Leaves out reports that do not fit the job (another number of
// tasks), because the tasks in them are not this job's workers, and barriers whose failure the job
// survived: victims of a failure end within kVictimEndsWithinMs of it, but the worker that reports
// it made steps later than that, or another barrier failed later than that.
std::vector<FailedBarrier> FailedBarriers(const Topology& topology);

// Workers that the service names as examples of those that had not connected when the start-up of
// the job failed, and those missing at PyTorch's barrier of the start-up; sorted.
std::vector<int> NotConnected(const Topology& topology);

// Workers that the service has declared dead because heartbeats were missing, and those of
// RestartedTasks; sorted.
std::vector<int> WithoutHeartbeats(const Topology& topology);
// True if the worker is one of these.
bool SendsNoHeartbeats(const Topology& topology, int worker);

// Workers of WithoutHeartbeats, and those whose machines fail the health checks of the TPU runtime
// or of Ray; sorted.
std::vector<int> MissedByServices(const Topology& topology);

// Workers that came back as another incarnation while the service still knew the previous one,
// sorted: the process of the previous incarnation has ended.
std::vector<int> RestartedTasks(const Topology& topology);

// True for a line in which somebody who waits names those for whom it waits: a library of
// collectives, or a rank that asks another for the id of their communicator. They are in
// `peer_tasks`.
bool NamesAwaited(const LogEvent& log);

// True for a follow-on line that reports another worker's failure, rather than how the line's own
// process crashed or was ended.
bool SaysAnotherFailed(const LogEvent& log);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_COORDINATION_H_
