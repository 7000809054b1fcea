#include "agent/sources/nic/parse.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "proto/v1/messages.h"

namespace rapideye::agent {
namespace {

// ARPHRD_LOOPBACK of linux/if_arp.h.
constexpr int64_t kLoopback = 772;

std::optional<int64_t> Count(const std::optional<std::string>& text) {
  int64_t count = 0;
  if (!text.has_value() || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &count) ||
      count < 0) {
    return std::nullopt;
  }
  return count;
}

}  // namespace

std::vector<wire::HostAddress> ReachableAddresses(const std::map<IpAddress, std::string>& nics) {
  std::vector<wire::HostAddress> addresses;
  for (const auto& [address, nic] : nics) {
    if (address.IsReachable() && !nic.empty()) addresses.push_back({nic, address});
  }
  std::sort(addresses.begin(), addresses.end());
  if (addresses.size() > wire::Hello::kMaxAddresses) addresses.resize(wire::Hello::kMaxAddresses);
  return addresses;
}

std::optional<NicSample> MakeNic(const std::string& name, const NicFiles& files) {
  const std::optional<int64_t> type = Count(files.type);
  if (!type.has_value() || type == kLoopback) return std::nullopt;
  NicSample nic;
  nic.name = name;
  nic.physical = files.has_device;
  const std::string state(absl::StripAsciiWhitespace(files.operstate.value_or("")));
  // Drivers without states say "unknown" and still have a carrier.
  nic.up = Count(files.carrier) == 1 && (state == "up" || state == "unknown");
  nic.carrier_changes = Count(files.carrier_changes);
  nic.rx_errors = Count(files.rx_errors);
  nic.tx_errors = Count(files.tx_errors);
  return nic;
}

}  // namespace rapideye::agent
