// Writes an incident's hooks.json: the decisions about the machines it names, and the results of
// its hooks.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/removal/journal.h"
#include "coordinator/store/disk.h"

namespace rapideye::coordinator {

struct RemovalRecord {
  std::string incident;
  RemovalMode mode = RemovalMode::kDryRun;
  std::vector<MachineDecision> decisions;
  std::vector<Task> hooks;  // a task without a subject is for the incident as a whole
};

std::string RenderRemovalRecord(const RemovalRecord& record);

// True if some hook of a rendered record has not come to its end.
bool IsUnfinished(const std::string& rendered);

// Writes the record to the directory of an incident that is on disk, in the place of an older
// one. A record that exists says that the incident has been taken up.
absl::Status WriteRemovalRecord(Disk& disk, const std::string& directory,
                                const RemovalRecord& record);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_
