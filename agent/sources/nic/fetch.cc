#include "agent/sources/nic/fetch.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace rapideye::agent {

std::map<IpAddress, std::string> ListNics() {
  std::map<IpAddress, std::string> nics;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return nics;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (entry->ifa_addr->sa_family == AF_INET) {
      std::array<uint8_t, 4> bytes;
      std::memcpy(bytes.data(), &reinterpret_cast<sockaddr_in*>(entry->ifa_addr)->sin_addr, 4);
      nics.emplace(FromV4(bytes), entry->ifa_name);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      IpAddress address;
      std::memcpy(address.bytes.data(),
                  &reinterpret_cast<sockaddr_in6*>(entry->ifa_addr)->sin6_addr, 16);
      nics.emplace(address, entry->ifa_name);
    }
  }
  freeifaddrs(list);
  return nics;
}

}  // namespace rapideye::agent
