// Renders the pages of the job and of the incidents. Each can be read without its script.
//
// Text from peers or from the disk is escaped everywhere.
#ifndef RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_
#define RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_

#include <string>
#include <vector>

#include "coordinator/core/job_status.h"
#include "coordinator/store/incident_pipeline.h"
#include "coordinator/store/incident_summary.h"

namespace rapideye::coordinator {

// The job now, verdict and culprit first in a hang; changes appear without a reload. About 100
// bytes a worker and 60 kB. `status` may be nullptr:
// the core has not answered.
std::string StatusPage(const JobStatus* status, const DiskReport& disk);

// A table of incidents, in the order given, to be sorted, filtered and searched; counts by cause
// and host. `newest_only`: there are more incidents. `status` tells which one is open and how long
// others lasted; nullptr: the core has not answered, and their state is not known.
std::string IncidentsPage(const std::vector<IncidentSummary>& incidents, bool newest_only,
                          const JobStatus* status);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_
