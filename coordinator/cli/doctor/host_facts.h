// Reads the rights and limits that a host gives its agent and its coordinator.
#ifndef RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_
#define RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::cli {

// Absent: it could not be read.
struct HostFacts {
  uint64_t descriptors_soft = 0;
  uint64_t descriptors_hard = 0;
  std::optional<bool> clock_synchronised = {};
  std::optional<absl::Duration> clock_error =
      {};                                // the kernel's own bound, of one that is synchronised
  std::optional<int> ptrace_scope = {};  // Yama's; absent: this kernel has none
  bool may_trace = false;                // CAP_SYS_PTRACE
  std::string kernel_log = {};           // why it cannot be read; empty: it can
  std::vector<std::string> tools = {};   // of eu-stack and py-spy, those that are there
};

HostFacts ReadHostFacts();

struct DirectoryFacts {
  std::string path = {};
  bool there = false;
  std::string problem = {};       // why nothing can be written; empty: it can, or could be made
  std::string network_type = {};  // "NFS" of a network file system; empty: of none that is known
  std::optional<int64_t> free_bytes = {};
  bool others_may_write = false;
};

// Facts of a directory that need not exist yet: then of its nearest existing parent. Leaves nothing
// behind.
DirectoryFacts ReadDirectoryFacts(const std::string& path);

// Tells what becomes of a connection to another host.
struct PeerFacts {
  enum class Answer { kConnected, kRefused, kSilent, kUnreachable, kUnknownName, kNotTried };

  std::string peer = {};  // HOST:PORT
  Answer answer = Answer::kNotTried;
  std::string detail = {};
};

// Blocks until `patience` at most, but for the resolution of the name.
PeerFacts TryPeer(const std::string& host, const std::string& port, absl::Duration patience);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_DOCTOR_HOST_FACTS_H_
