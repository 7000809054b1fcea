// Parses the text of /proc into values.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_PARSE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/sources/process/state.h"
#include "proto/common/address/address.h"

namespace rapideye::agent {

struct ProcessStat {
  ProcessId id;
  std::string command;
  int64_t parent = 0;
  ProcessState state = ProcessState::kUnspecified;
  int64_t cpu_ticks = 0;
  // The kernel shows it to those who may look into the process: then `exit_status`
  // of the zombie is its own, too, and no placeholder.
  bool permitted = false;
  int32_t exit_status = 0;  // as wait(2) gives it; only of a zombie
};

// The line of /proc/<pid>/stat. The command is the process's own choice and may
// hold spaces, brackets and newlines. INVALID_ARGUMENT names the field.
absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view line);

// Sets exit code or signal of a sample from a status as wait(2) gives it.
void SetExit(int32_t status, ProcessSample& sample);

// Inodes of the sockets that listen for those who connect to the endpoint, from
// the text of /proc/net/tcp or tcp6. Lines that make no sense are skipped.
std::set<uint64_t> ListeningInodes(absl::string_view table, const Endpoint& endpoint);

// The inode in the target of a link in /proc/<pid>/fd ("socket:[123]").
std::optional<uint64_t> SocketInode(absl::string_view link);

// The device file of a chip, told by the target of such a link: "accel0" for
// "/dev/accel0", "vfio/3" for "/dev/vfio/3", which is a group of chips.
std::optional<std::string> ChipDevice(absl::string_view link, absl::string_view dev_root);

// The name of a user in the text of /etc/passwd; absent: it is not there.
std::optional<std::string> UserName(absl::string_view passwords, uint32_t user);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_PARSE_H_
