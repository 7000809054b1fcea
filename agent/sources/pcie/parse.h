// Recognises TPUs among PCI devices, and parses their error counters.
#ifndef RAPIDEYE_AGENT_SOURCES_PCIE_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_PCIE_PARSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

struct TpuDevice {
  std::string address;  // as the kernel writes it, such as 0000:05:00.0
  // The n of /dev/accel<n>; absent if its driver makes none.
  std::optional<int32_t> accel;
  // The n of /dev/vfio/<n>; absent if it is not passed through to the process.
  std::optional<int32_t> group;
  // Ordinal of the chip on this host; see NumberChips.
  std::optional<int32_t> chip;

  friend bool operator==(const TpuDevice&, const TpuDevice&) = default;
};

// "0000:05:00.0": domain, bus, device and function, in lower-case hex.
bool IsPciAddress(absl::string_view text);

// True if the texts of a device's `vendor` and `device` files are a TPU's. Google's other
// devices (network, storage) are no TPUs.
bool IsTpu(absl::string_view vendor, absl::string_view device);

// The number in "accel3", or in the name of an IOMMU group; absent if it is none.
std::optional<int32_t> NumberBehind(absl::string_view prefix, absl::string_view name);

// Says which chip each is: the number of its accelerator, or that of its group if the
// groups of all TPUs are 0, 1, 2 ... Otherwise no file tells the chip, which stays absent.
void NumberChips(std::vector<TpuDevice>& devices);

// The sum that stands in a file such as aer_dev_fatal ("TOTAL_ERR_FATAL 2"); absent if
// the text has no sum.
std::optional<int64_t> TotalErrors(absl::string_view text);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PCIE_PARSE_H_
