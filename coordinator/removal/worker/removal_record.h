// RemovalRecord is an incident's hooks.json: what became of its own hooks, whether the fleet
// history has the incident, and the decisions about the machines that it names.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/removal/journal.h"

namespace rapideye::coordinator {

struct RemovalRecord {
  std::string incident;  // its id
  RemovalMode mode = RemovalMode::kDryRun;
  // Copies from the fleet history, for readers of the file.
  std::vector<MachineDecision> decisions = {};
  std::vector<Task> removals = {};
  // The hooks of the incident as a whole, which no other place records. Those of one digest, or of
  // the end, run in this order.
  std::vector<Task> hooks = {};
  // The newest digest whose hooks are among these, and the newest that the history has: revisions;
  // 0: none.
  int64_t revision = 0;
  int64_t published = 0;
  // Version 0.1 kept hooks and incidents on their way in a database, and wrote copies to this file.
  bool is_copy = false;
};

std::string RenderRemovalRecord(const RemovalRecord& record);

// INVALID_ARGUMENT if `json` was not rendered by RenderRemovalRecord, or by version 0.1.
absl::StatusOr<RemovalRecord> ParseRemovalRecord(const std::string& json);

// True if the hook may still run.
bool IsUnfinished(const Task& task);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_WORKER_REMOVAL_RECORD_H_
