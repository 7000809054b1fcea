// Restarts lists workers whose training process was started anew while the job stood.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_RESTARTS_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_RESTARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

struct Restart {
  int worker = 0;
  int64_t started_ms_ago = 0;
  // Other workers were started anew, too, and not clearly later: this restart may follow theirs.
  bool among_others = false;
};

// True if the process lives and is neither stopped nor frozen.
bool IsAlive(const Process& process);

// The age of the oldest process that lives: the others are its helpers. Absent: not known.
std::optional<int64_t> StartedMsAgo(const Snapshot& snapshot);

// True if no core of the worker runs or queues a launch.
bool RanOut(const Snapshot& snapshot);

// The restarts by worker, without those that clearly followed another; empty if all processes are
// from after the standstill: the job as a whole was started anew. `since_ms`: the longest time
// since the standstill began; absent: not known, and then the result is empty. `still_ms`: the
// time since most cores ended a launch; it decides where the age of no other process is known.
std::vector<Restart> FindRestarts(const Topology& topology, std::optional<int64_t> since_ms,
                                  std::optional<int64_t> still_ms);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_RESTARTS_H_
