// Tells whether a process that failed may have done so at the end of the run.
#ifndef RAPIDEYE_COORDINATOR_CORE_EXITS_H_
#define RAPIDEYE_COORDINATOR_CORE_EXITS_H_

#include <map>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// True while the failed end of a process may be that of a run that is done: a process that
// falls over at the very end fails nobody, and the others then end with status 0 within
// seconds. What a device runs, or an error that another worker met, shows at once that
// the end was in the middle. False if no process has failed.
bool MayBeTheEndOfTheRun(const std::map<WorkerId, Snapshot>& snapshots);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_EXITS_H_
