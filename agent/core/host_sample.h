// What the host shows of the training process, checked and as plain values.
#ifndef RAPIDEYE_AGENT_CORE_HOST_SAMPLE_H_
#define RAPIDEYE_AGENT_CORE_HOST_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/hardware_sample.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// A process, as distinct from a later one with the same number.
struct ProcessId {
  int64_t pid = 0;
  int64_t start_ticks = 0;  // since the machine started, in clock ticks

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

struct ProcessSample {
  ProcessId id;
  std::string command;  // the program's name, bytes
  ProcessState state = ProcessState::kUnspecified;
  int64_t cpu_ms = 0;  // since it started
  std::optional<std::string> wait_channel;
  // Only of a process that has ended, and not always then.
  std::optional<int32_t> exit_code;
  std::optional<int32_t> signal;

  bool Ended() const { return state == ProcessState::kZombie || state == ProcessState::kExited; }
};

struct ProcessReading {
  // A process that has ended stays until another takes its place.
  std::optional<ProcessSample> process;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

// A connection to nobody knows whom: its peer is not set.
struct StrangerSocket {
  IpAddress address;  // of the other end
  Socket socket;
};

struct SocketReading {
  std::vector<Socket> sockets;  // to other workers
  std::vector<StrangerSocket> strangers;
  std::string unavailable;  // as above
};

// A program that XLA has dumped, with the fingerprint that its own text holds.
struct DumpedProgram {
  std::string module;
  std::string fingerprint;  // lower-case hex
};

struct HloDumpReading {
  std::vector<DumpedProgram> programs;
  std::string unavailable;  // as above
};

// What the training loop says of itself; ages as of the look.
struct ProgressSample {
  std::optional<int64_t> step;
  Phase phase = Phase::kUnspecified;
  std::optional<absl::Duration> phase_for;
  std::optional<absl::Duration> input_wait;
};

struct ProgressReading {
  std::optional<ProgressSample> progress;
  std::string unavailable;  // as above
};

struct MetricsReading {
  std::vector<Metric> metrics;
  std::string unavailable;  // which endpoints did not answer, and why
};

// What probes of other workers have shown.
struct ProbeReading {
  std::vector<Probe> probes;  // those that could be made
  std::string unavailable;    // as above, of those that could not
};

// Where the threads of the training process stand, the most telling first.
struct StackReading {
  std::vector<Stack> stacks;
  std::string unavailable;  // as above; there may be some all the same
};

// One look at the host. What was not looked at is absent.
struct HostReading {
  std::optional<ProcessReading> process;
  std::optional<SocketReading> sockets;  // only of a process that lives
  HardwareReading hardware;
  std::optional<ProgressReading> progress;
  std::optional<MetricsReading> metrics;  // only at a hang
  // Only once, when they are there, after a look that asked for them.
  std::optional<StackReading> stacks;
  // At a hang only: who has chips open and does not belong to the training process.
  std::optional<std::vector<ChipHolder>> chip_holders;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_HOST_SAMPLE_H_
