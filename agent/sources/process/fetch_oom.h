// Tells from the kernel's counters whether a process was killed for want of memory.
//
// Facts: /proc/PID/cgroup (cgroups(7)); `oom_kill` of memory.events (cgroup v2) and of
// memory.oom_control (v1), which count every process of the group that any kind of
// out-of-memory killer has killed.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OOM_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OOM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

// The file that counts the kills of a process's group, below `sys_root` (normally "/sys"), by
// the text of its /proc/PID/cgroup. Absent: the process has no group that counts kills, or a
// group that cannot be seen here.
std::optional<std::string> OomCounterFile(absl::string_view cgroups, const std::string& sys_root);
// The count in the text of such a file; absent: it has none.
std::optional<int64_t> OomKills(absl::string_view text);

// Watches the counter of one process while it lives. Not synchronised.
class OomWatch {
 public:
  OomWatch(std::string proc_root, std::string sys_root);

  // The process lives: reads the counter of its group as it is now. Two small files.
  void Lives(int64_t pid);
  // The process has ended: true if the counter has risen since the process was last seen alive.
  bool KilledSince() const;

 private:
  const std::string proc_root_;
  const std::string sys_root_;
  std::optional<std::string> file_;
  std::optional<int64_t> kills_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_OOM_H_
