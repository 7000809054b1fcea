// The sources that tell of the host's hardware.
#ifndef RAPIDEYE_AGENT_DAEMON_HARDWARE_SOURCES_H_
#define RAPIDEYE_AGENT_DAEMON_HARDWARE_SOURCES_H_

#include <string>
#include <vector>

#include "agent/core/effects.h"
#include "agent/core/hardware_sample.h"
#include "agent/daemon/source_names.h"
#include "agent/sources/kernel_log/fetch.h"
#include "agent/sources/pcie/parse.h"

namespace rapideye::agent {

// Read one after the other. Not synchronised.
class HardwareSources {
 public:
  // Where the kernel's file systems are to be seen, normally "/sys" and "/dev".
  HardwareSources(std::string sys_root, const std::string& dev_root, DisabledSources disabled);

  // The kernel's log at each look; counters, and which TPUs there are, only if asked.
  HardwareReading Read(HostLook look);

 private:
  const std::string sys_root_;
  const DisabledSources disabled_;
  KernelLog kernel_log_;
  std::vector<TpuDevice> tpus_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_HARDWARE_SOURCES_H_
