// Asks the host for its network interfaces.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_

#include <map>
#include <string>

#include "proto/address/address.h"

namespace rapideye::agent {

// Names of this host's interfaces by the addresses that they own.
std::map<IpAddress, std::string> ListNics();

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_FETCH_H_
