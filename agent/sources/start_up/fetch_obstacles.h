// Finds what keeps a training process from its chips and ports.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_OBSTACLES_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_OBSTACLES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/sources/pcie/parse.h"
#include "agent/sources/process/state.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct ObstacleSearch {
  std::string proc_root;
  std::string sys_root;
  std::string dev_root;
  std::optional<ProcessSample> training;  // absent: none is known
  bool has_device = false;                // the training process has chips open
  std::set<uint16_t> ports;               // where it has to listen
  std::vector<TpuDevice> tpus;            // of this host
};

// Opens no device: a device file of a chip can be opened once, and the training process would
// be refused. So a chip counts as held if another process is seen to have it open, and as not
// permitted by the modes of its file alone. At most kMaxObstacles.
std::vector<Obstacle> FindObstacles(const ObstacleSearch& search);

// The training process has the device file of a chip open.
bool HasDeviceOpen(const std::string& proc_root, const std::string& dev_root, int64_t pid);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_FETCH_OBSTACLES_H_
