// Restarts lists workers whose training process was started anew while the job stood.
#ifndef RAPIDEYE_CLASSIFIER_RESTARTS_H_
#define RAPIDEYE_CLASSIFIER_RESTARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/topology.h"

namespace rapideye::classifier {

struct Restart {
  int worker = 0;
  int64_t started_ms_ago = 0;
  // Others were started anew, too, not clearly after it: it may have followed what ended them.
  bool among_others = false;
};

// The process lives and can do something.
bool IsAlive(const Process& process);

// Nothing runs on its cores, and nothing is queued.
bool RanOut(const Snapshot& snapshot);

// By worker. `since_ms`: how long ago the standstill began, at the most; absent: unknown, and
// then there are none.
std::vector<Restart> FindRestarts(const Topology& topology, std::optional<int64_t> since_ms);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_RESTARTS_H_
