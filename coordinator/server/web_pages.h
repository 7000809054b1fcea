// Renders the coordinator's own pages, as HTML that needs no network and no script.
//
// Text from peers or from the disk is escaped everywhere.
#ifndef RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_
#define RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_

#include <string>
#include <vector>

#include "coordinator/core/job_status.h"
#include "coordinator/store/incident_keeper.h"
#include "coordinator/store/incident_summary.h"

namespace rapideye::coordinator {

// The job now; the browser asks again every few seconds. `status` may be nullptr:
// the core has not answered.
std::string StatusPage(const JobStatus* status, const DiskReport& disk);

// A table of incidents, in the order given. `newest_only`: there are more.
std::string IncidentsPage(const std::vector<IncidentSummary>& incidents, bool newest_only);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_WEB_PAGES_H_
