#include "agent/sources/pcie/fetch.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/limits.h"
#include "agent/sources/pcie/limits.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

// Numbers of /dev/accel<n> by the PCI address behind it.
std::map<std::string, int32_t> ListAccelerators(const std::string& sys_root) {
  std::map<std::string, int32_t> accelerators;
  const std::string folder = absl::StrCat(sys_root, "/class/accel");
  file::ForEachEntry(folder, [&](const char* name) {
    const std::optional<int32_t> number = NumberBehind("accel", name);
    if (!number.has_value()) return true;
    if (auto address = file::LinkName(absl::StrCat(folder, "/", name, "/device"))) {
      accelerators.emplace(*std::move(address), *number);
    }
    return accelerators.size() < kMaxTpus;
  });
  return accelerators;
}

}  // namespace

std::vector<TpuDevice> ListTpus(const std::string& sys_root) {
  std::vector<TpuDevice> tpus;
  const std::string folder = absl::StrCat(sys_root, "/bus/pci/devices");
  size_t devices = 0;
  file::ForEachEntry(folder, [&](const char* name) {
    if (!IsPciAddress(name)) return true;
    const std::string device = absl::StrCat(folder, "/", name);
    const auto vendor = file::ReadSmallFile(device + "/vendor", kMaxSysFileBytes);
    const auto number = file::ReadSmallFile(device + "/device", kMaxSysFileBytes);
    if (vendor.has_value() && number.has_value() && IsTpu(*vendor, *number)) {
      const std::optional<std::string> group = file::LinkName(device + "/iommu_group");
      tpus.push_back({.address = name,
                      .accel = std::nullopt,
                      .group = group.has_value() ? NumberBehind("", *group) : std::nullopt,
                      .chip = std::nullopt});
    }
    return tpus.size() < kMaxTpus && ++devices < kMaxPciDevices;
  });
  const std::map<std::string, int32_t> accelerators = ListAccelerators(sys_root);
  for (TpuDevice& tpu : tpus) {
    const auto found = accelerators.find(tpu.address);
    if (found != accelerators.end()) tpu.accel = found->second;
  }
  std::sort(tpus.begin(), tpus.end(),
            [](const TpuDevice& a, const TpuDevice& b) { return a.address < b.address; });
  NumberChips(tpus);
  return tpus;
}

PcieReading ReadPcie(const std::string& sys_root, const std::vector<TpuDevice>& tpus,
                     absl::Duration deadline) {
  const auto give_up = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(deadline);
  PcieReading reading;
  if (tpus.empty()) {
    reading.unavailable = absl::StrCat("there is no TPU in ", sys_root,
                                       "/bus/pci/devices; --sys-root says where the host's /sys "
                                       "is to be seen");
  }
  for (const TpuDevice& tpu : tpus) {
    const auto total = [&](const char* file) -> std::optional<int64_t> {
      const auto text = file::ReadSmallFile(
          absl::StrCat(sys_root, "/bus/pci/devices/", tpu.address, "/", file), kMaxSysFileBytes);
      return text.has_value() ? TotalErrors(*text) : std::nullopt;
    };
    const std::optional<int64_t> fatal = total("aer_dev_fatal");
    const std::optional<int64_t> non_fatal = total("aer_dev_nonfatal");
    const std::optional<int64_t> correctable = total("aer_dev_correctable");
    if (!fatal.has_value() || !non_fatal.has_value() || !correctable.has_value()) {
      reading.unavailable = absl::StrCat(
          tpu.address, " shows no AER counters (a kernel without them, or a virtual machine)");
    } else if (!tpu.chip.has_value()) {
      reading.unavailable = absl::StrCat("nothing tells which chip is behind ", tpu.address);
    } else {
      reading.chips.push_back({*tpu.chip, *fatal, *non_fatal, *correctable});
    }
    if (std::chrono::steady_clock::now() >= give_up) {
      reading.unavailable = "the host's /sys is too slow to read all error counters";
      break;
    }
  }
  return reading;
}

const std::vector<TpuDevice>& KnownTpus(const std::string& sys_root, const HostLook& look,
                                        HostFindings& found) {
  if (look.counters && !found.tpus_listed) {
    found.tpus = ListTpus(sys_root);
    found.tpus_listed = true;
  }
  return found.tpus;
}

namespace {

class PcieFetcher final : public Fetcher<PcieReading> {
 public:
  explicit PcieFetcher(std::string sys_root) : sys_root_(std::move(sys_root)) {}

  std::optional<PcieReading> Fetch(const HostLook& look, absl::Duration,
                                   HostFindings& found) override {
    if (!look.counters) return std::nullopt;
    return ReadPcie(sys_root_, KnownTpus(sys_root_, look, found), kCounterDeadline);
  }

 private:
  const std::string sys_root_;
};

}  // namespace

std::unique_ptr<Fetcher<PcieReading>> PcieSource::MakeFetcher(const HostOptions& options,
                                                              HostFindings&) {
  return std::make_unique<PcieFetcher>(options.sys_root);
}

}  // namespace rapideye::agent
