// Reads the TPUs of the host as PCI devices from the kernel.
#ifndef RAPIDEYE_AGENT_SOURCES_PCIE_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_PCIE_FETCH_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/pcie/parse.h"
#include "agent/sources/pcie/state.h"

namespace rapideye::agent {

// The TPUs below `sys_root` (normally "/sys"), numbered, by address. Needs no
// privilege. A few small files per PCI device: not for every poll.
std::vector<TpuDevice> ListTpus(const std::string& sys_root);

// The TPUs as last listed: once anew in a look that reads counters, for whichever source asks
// first.
const std::vector<TpuDevice>& KnownTpus(const std::string& sys_root, const HostLook& look,
                                        HostFindings& found);

// Error counters of these TPUs, as far as `deadline` goes. The kernel answers from its
// memory: no device is touched.
PcieReading ReadPcie(const std::string& sys_root, const std::vector<TpuDevice>& tpus,
                     absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PCIE_FETCH_H_
