// Bounds the listing of PCI devices.
#ifndef RAPIDEYE_AGENT_SOURCES_PCIE_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_PCIE_LIMITS_H_

#include <cstddef>

namespace rapideye::agent {

// PCI devices of one host; the largest hosts have a few hundred.
inline constexpr size_t kMaxPciDevices = 4'096;
inline constexpr size_t kMaxTpus = 64;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PCIE_LIMITS_H_
