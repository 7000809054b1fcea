// LiveMapSection shows the progress of every worker as slices and hosts.
#ifndef RAPIDEYE_COORDINATOR_SERVER_LIVE_MAP_H_
#define RAPIDEYE_COORDINATOR_SERVER_LIVE_MAP_H_

#include <string>

#include "coordinator/core/job_status.h"

namespace rapideye::coordinator {

// Slices with a late or missing worker are open, the others folded into a line for all that look
// alike; the page's script draws the hosts. Empty without workers. At most about 100 bytes a
// worker.
std::string LiveMapSection(const JobStatus& status);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_LIVE_MAP_H_
