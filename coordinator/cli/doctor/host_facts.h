// Reads the rights and limits that a host gives its agent and its coordinator.
#ifndef RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_
#define RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::cli {

// Facts of a host; an absent value could not be read, unless stated otherwise.
struct HostFacts {
  uint64_t descriptors_soft = 0;
  uint64_t descriptors_hard = 0;
  std::optional<bool> clock_synchronised = {};
  std::optional<absl::Duration> clock_error =
      {};                                // the kernel's own bound, if the clock is synchronised
  std::optional<int> ptrace_scope = {};  // Yama's; absent: this kernel has none
  bool may_trace = false;                // CAP_SYS_PTRACE
  std::string kernel_log = {};           // why it cannot be read; empty: it can
  std::vector<std::string> tools = {};   // those of eu-stack and py-spy that are installed
};

HostFacts ReadHostFacts();

struct DirectoryFacts {
  std::string path = {};
  bool there = false;
  std::string problem = {};       // why nothing can be written; empty: it can, or could be made
  std::string network_type = {};  // "NFS" of a network file system; empty: no known one
  std::optional<int64_t> free_bytes = {};
  bool others_may_write = false;
};

// Facts of a directory that need not exist yet: then of its nearest existing parent. Leaves nothing
// behind.
DirectoryFacts ReadDirectoryFacts(const std::string& path);

// The result of a connection to another host.
struct PeerFacts {
  enum class Answer { kConnected, kRefused, kSilent, kUnreachable, kUnknownName, kNotTried };

  std::string peer = {};  // HOST:PORT
  Answer answer = Answer::kNotTried;
  std::string detail = {};
};

// Blocks for `patience` at most, beside the resolution of the name.
PeerFacts TryPeer(const std::string& host, const std::string& port, absl::Duration patience);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_
