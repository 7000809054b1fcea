// Bounds the listing of network interfaces.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_LIMITS_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_LIMITS_H_

#include <cstddef>

namespace rapideye::agent {

// Interfaces, with the bridges of containers; a host with more is none that trains.
inline constexpr size_t kMaxNics = 256;

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_LIMITS_H_
