// BuildSnapshot turns the state of this worker into the snapshot that it reports.
#ifndef RAPIDEYE_AGENT_CORE_SNAPSHOT_BUILDER_H_
#define RAPIDEYE_AGENT_CORE_SNAPSHOT_BUILDER_H_

#include <cstdint>

#include "agent/core/worker_view.h"
#include "agent/sources/progress_page/state.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Cores, sequencers and programs of the last sample, with ages as of `now`. HLO
// learnt earlier is added for sequencers that still stand at the same place.
Snapshot BuildSnapshot(const wire::Hello& identity, const RuntimeHealth& health,
                       const WorkerView& view, Instant now);

// Adds the groups that meet at the collectives at which cores stand, to a snapshot that has the
// worker's devices: without these they would say nothing. `slice`: the numbers of the devices of
// its slice, empty if they are not known. Every worker tells its own devices' groups, and the
// worker that is asked for HLO all of them.
void AddCollectives(const WorkerView& view, DeviceRange slice, bool all_groups, Snapshot& snapshot);

// About how many bytes the snapshot takes on the wire.
int64_t EstimateBytes(const Snapshot& snapshot);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_SNAPSHOT_BUILDER_H_
