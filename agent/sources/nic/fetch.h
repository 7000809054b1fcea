// Lists the network interfaces of the host.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "agent/sources/nic/state.h"
#include "proto/common/address/address.h"

namespace rapideye::agent {

// Names of this host's interfaces by the addresses that they own.
std::map<IpAddress, std::string> ListNics();

// Carrier and errors of the interfaces below `sys_root` (normally "/sys") that are devices, or
// own an address that other hosts can reach: not the ends of containers' links. `owners` is
// what ListNics says. A few small files for each; `deadline` bounds them.
NicReading ReadNics(const std::string& sys_root, const std::map<IpAddress, std::string>& owners,
                    absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_
