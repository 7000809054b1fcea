// Keeps a capture small: of the settings of thousands of workers only what differs.
#ifndef RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_
#define RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_

#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// Drops settings that all snapshots with settings have with the same value. Each keeps one at
// least: it shows that they were read.
void DropCommonSettings(std::vector<Snapshot>& snapshots);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_
