#include "agent/daemon/hardware_sources.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/sources/limits.h"
#include "agent/sources/nic/fetch.h"
#include "agent/sources/nic/parse.h"
#include "agent/sources/pcie/fetch.h"
#include "proto/common/address/address.h"

namespace rapideye::agent {

HardwareSources::HardwareSources(std::string sys_root, const std::string& dev_root,
                                 DisabledSources disabled)
    : sys_root_(std::move(sys_root)),
      disabled_(std::move(disabled)),
      kernel_log_(absl::StrCat(dev_root, "/kmsg")) {}

HardwareReading HardwareSources::Read(HostLook look) {
  HardwareReading reading;
  const bool pcie = !disabled_.contains(Source::kPcie);
  const bool kernel_log = !disabled_.contains(Source::kKernelLog);
  if (look.counters && (pcie || kernel_log)) tpus_ = ListTpus(sys_root_);
  if (look.counters && pcie) reading.pcie = ReadPcie(sys_root_, tpus_, kCounterDeadline);
  if (look.counters && !disabled_.contains(Source::kNic)) {
    const std::map<IpAddress, std::string> owners = ListNics();
    reading.addresses = ReachableAddresses(owners);
    reading.nics = ReadNics(sys_root_, owners, kCounterDeadline);
  }
  if (kernel_log) reading.kernel_log = kernel_log_.Read(tpus_);
  return reading;
}

}  // namespace rapideye::agent
