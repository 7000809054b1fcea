// Finds the idle cores for which a slice waits, and tells them from those that have finished.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_IDLE_HEADS_H_
#define RAPIDEYE_CLASSIFIER_WAIT_IDLE_HEADS_H_

#include "classifier/wait/head_list.h"

namespace rapideye::classifier {

// Adds the one core that still runs, while all others of its slice have finished its launch and
// have nothing left to do: whatever its instruction, the others do not wait for it there.
void AddLeftAlone(HeadList& list);

// Adds idle cores while the slice is in a launch that they never got. Work that ran out behind
// a fault shows the same; the order of launches separates the two.
void AddIdle(HeadList& list);

// A core in a launch that a host of its slice never got can come no further than to the
// collective with that host: even if the core computes now, it would end up waiting there.
void DropBehindIdle(HeadList& list);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_IDLE_HEADS_H_
