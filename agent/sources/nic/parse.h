// What the host's network interfaces are, as plain values.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_

#include <map>
#include <string>
#include <vector>

#include "proto/address/address.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// By which other hosts may reach this one, as the coordinator is told: sorted, and
// no more than it takes. `nics`: names by the address they own.
std::vector<wire::HostAddress> ReachableAddresses(const std::map<IpAddress, std::string>& nics);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_
