// Parses rtnetlink's attributes into the host's network interfaces, as plain values.
#ifndef RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/sources/nic/state.h"
#include "proto/common/address/address.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// The addresses of this host for other hosts, as the coordinator gets them: sorted, and
// no more than it takes. `nics`: names by the address they own.
std::vector<wire::HostAddress> ReachableAddresses(const std::map<IpAddress, std::string>& nics);

// The values in the files of one interface below /sys/class/net; absent: the file could
// not be read (that of the carrier cannot while the interface is switched off).
struct NicFiles {
  std::optional<std::string> type;
  std::optional<std::string> carrier;
  std::optional<std::string> operstate;
  std::optional<std::string> carrier_changes;
  std::optional<std::string> rx_errors;
  std::optional<std::string> tx_errors;
  bool has_device = false;
};

// Absent: the interface is the loopback, or the files are of no interface.
std::optional<NicSample> MakeNic(const std::string& name, const NicFiles& files);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_NIC_PARSE_H_
