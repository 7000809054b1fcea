#include "agent/sources/nic/fetch.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/limits.h"
#include "agent/sources/nic/limits.h"
#include "agent/sources/nic/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

NicFiles ReadFiles(const std::string& folder) {
  const auto read = [&folder](const char* file) {
    return file::ReadSmallFile(absl::StrCat(folder, file), kMaxSysFileBytes);
  };
  return {.type = read("/type"),
          .carrier = read("/carrier"),
          .operstate = read("/operstate"),
          .carrier_changes = read("/carrier_changes"),
          .rx_errors = read("/statistics/rx_errors"),
          .tx_errors = read("/statistics/tx_errors"),
          .has_device = file::LinkName(folder + "/device").has_value()};
}

// A second address may have a label of its own, "eth1:2".
std::string NameOf(const ifaddrs& entry) {
  const std::string label = entry.ifa_name;
  return label.substr(0, label.find(':'));
}

}  // namespace

std::map<IpAddress, std::string> ListNics() {
  std::map<IpAddress, std::string> nics;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return nics;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (entry->ifa_addr->sa_family == AF_INET) {
      std::array<uint8_t, 4> bytes;
      std::memcpy(bytes.data(), &reinterpret_cast<sockaddr_in*>(entry->ifa_addr)->sin_addr, 4);
      nics.emplace(FromV4(bytes), NameOf(*entry));
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      IpAddress address;
      std::memcpy(address.bytes.data(),
                  &reinterpret_cast<sockaddr_in6*>(entry->ifa_addr)->sin6_addr, 16);
      nics.emplace(address, NameOf(*entry));
    }
  }
  freeifaddrs(list);
  return nics;
}

NicReading ReadNics(const std::string& sys_root, const std::map<IpAddress, std::string>& owners,
                    absl::Duration deadline) {
  const auto give_up = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(deadline);
  NicReading reading;
  std::set<std::string> missing;
  for (const auto& [address, nic] : owners) {
    if (address.IsReachable()) missing.insert(nic);
  }
  const std::set<std::string> reachable = missing;
  const std::string folder = absl::StrCat(sys_root, "/class/net");
  const int error = file::ForEachEntry(folder, [&](const char* name) {
    missing.erase(name);
    const std::optional<NicSample> nic = MakeNic(name, ReadFiles(absl::StrCat(folder, "/", name)));
    if (!nic.has_value() || (!nic->physical && !reachable.contains(name))) return true;
    reading.nics.push_back(*nic);
    return reading.nics.size() < kMaxNics && std::chrono::steady_clock::now() < give_up;
  });
  if (error != 0) {
    reading.unavailable = absl::StrCat(folder, ": ", std::strerror(error),
                                       "; --sys-root says where the host's /sys is to be seen");
  } else if (std::chrono::steady_clock::now() >= give_up || reading.nics.size() >= kMaxNics) {
    reading.unavailable = absl::StrCat(folder, " holds too many interfaces to read them in time");
  } else if (!missing.empty()) {
    reading.unavailable = absl::StrCat(
        folder, " does not show ", *missing.begin(),
        ", which this process has: it is of another network namespace; mount a /sys of this one");
  }
  return reading;
}

namespace {

class NicFetcher final : public Fetcher<NicReading> {
 public:
  explicit NicFetcher(std::string sys_root) : sys_root_(std::move(sys_root)) {}

  std::optional<NicReading> Fetch(const HostLook& look, absl::Duration, HostFindings&) override {
    if (!look.counters) return std::nullopt;
    const std::map<IpAddress, std::string> owners = ListNics();
    NicReading reading = ReadNics(sys_root_, owners, kCounterDeadline);
    reading.addresses = ReachableAddresses(owners);
    return reading;
  }

 private:
  const std::string sys_root_;
};

}  // namespace

std::unique_ptr<Fetcher<NicReading>> NicSource::MakeFetcher(const HostOptions& options,
                                                            HostFindings&) {
  return std::make_unique<NicFetcher>(options.sys_root);
}

}  // namespace rapideye::agent
