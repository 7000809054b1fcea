// Keeps a capture small: the settings that thousands of workers share are left out.
#ifndef RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_
#define RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_

#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// Drops settings that all snapshots with settings have with the same value. Each snapshot keeps
// at least one, which shows that its settings were read.
void DropCommonSettings(std::vector<Snapshot>& snapshots);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_SETTINGS_H_
