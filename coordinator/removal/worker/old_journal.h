// OldJournal reads the database in which version 0.1 kept hooks and incidents on their way.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_OLD_JOURNAL_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_OLD_JOURNAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/removal/journal.h"

namespace rapideye::coordinator {

struct OldJournal {
  std::vector<Task> hooks;                // of all incidents, in the order in which they run
  std::vector<IncidentRecord> incidents;  // that the history may lack; without digests
};

// `path` names the file; NOT_FOUND if there is none.
absl::StatusOr<OldJournal> ReadOldJournal(const std::string& path);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_OLD_JOURNAL_H_
