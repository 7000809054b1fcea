// Tells whether a process that failed may have done so at the end of the run.
#ifndef RAPIDEYE_COORDINATOR_CORE_EXITS_H_
#define RAPIDEYE_COORDINATOR_CORE_EXITS_H_

#include <map>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// True while a process that failed may have done so after the work of its run: such a failure
// harms no other worker, and the other processes end with status 0 within seconds. A program on
// a device, or an error that another worker met, shows at once that the run was not over. False
// if no process has failed.
bool MayBeTheEndOfTheRun(const std::map<WorkerId, Snapshot>& snapshots);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_EXITS_H_
