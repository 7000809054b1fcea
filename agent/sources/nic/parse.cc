#include "agent/sources/nic/parse.h"

#include <algorithm>

#include "proto/wire/limits.h"

namespace rapideye::agent {

std::vector<wire::HostAddress> ReachableAddresses(const std::map<IpAddress, std::string>& nics) {
  std::vector<wire::HostAddress> addresses;
  for (const auto& [address, nic] : nics) {
    if (address.IsReachable() && !nic.empty()) addresses.push_back({nic, address});
  }
  std::sort(addresses.begin(), addresses.end());
  if (addresses.size() > wire::kMaxHostAddresses) addresses.resize(wire::kMaxHostAddresses);
  return addresses;
}

}  // namespace rapideye::agent
