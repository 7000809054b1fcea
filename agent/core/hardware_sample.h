// What the host's kernel shows of its hardware: out of the training job's reach.
#ifndef RAPIDEYE_AGENT_CORE_HARDWARE_SAMPLE_H_
#define RAPIDEYE_AGENT_CORE_HARDWARE_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "classifier/logs/log_line.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Counts are since the host started, or since the device was set up.
struct NicSample {
  std::string name;
  bool up = false;        // it has a carrier
  bool physical = false;  // a device of its own, no bridge or tunnel
  std::optional<int64_t> carrier_changes;
  std::optional<int64_t> rx_errors;
  std::optional<int64_t> tx_errors;
};

struct NicReading {
  std::vector<NicSample> nics;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

// Counts as above.
struct PcieSample {
  int32_t chip = 0;
  int64_t fatal = 0;
  int64_t non_fatal = 0;
  int64_t correctable = 0;

  friend bool operator==(const PcieSample&, const PcieSample&) = default;
};

struct PcieReading {
  std::vector<PcieSample> chips;
  std::string unavailable;  // as above, of one chip at least
};

// A line of the kernel's log about a TPU of this host.
struct KernelLine {
  logs::LogLine line;
  // When it was written: by the kernel's own clock, which nobody corrects.
  absl::Duration since_boot;
  // It was there before this agent looked for the first time.
  bool backlog = false;
  // A reset that nothing is said to have gone wrong with: a process that opens the
  // chip has it reset, too.
  bool plain_reset = false;
};

struct KernelLogReading {
  std::vector<KernelLine> lines;   // in their order
  std::vector<std::string> notes;  // what a person should know
  std::string unavailable;         // as above
};

// What was not looked at is absent.
struct HardwareReading {
  std::optional<std::vector<wire::HostAddress>> addresses;  // of the host now
  std::optional<NicReading> nics;
  std::optional<PcieReading> pcie;
  std::optional<KernelLogReading> kernel_log;
};

// The counts with which a training process began.
struct CounterBaseline {
  std::string process;  // NameProcess; empty: none was seen
  std::vector<PcieSample> chips;

  friend bool operator==(const CounterBaseline&, const CounterBaseline&) = default;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_HARDWARE_SAMPLE_H_
