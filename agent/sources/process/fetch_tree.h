// Sums the work of a process and its children, from the kernel's counters of each.
//
// Facts: /proc/PID/stat and /proc/PID/io, /proc/PID/task/TID/children (proc(5)). `rchar` and
// `wchar` count all that is read and written by read(2), write(2) and their kin: files, pipes,
// and sockets as far as they are used so. /proc/PID/schedstat is of the first thread alone: the
// nanoseconds for which it ran, and for which it waited for a processor
// (Documentation/scheduler/sched-stats.rst).
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_TREE_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_TREE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/process/state.h"

namespace rapideye::agent {

// Bytes read and written by the text of /proc/PID/io; absent: it does not say.
std::optional<int64_t> IoBytes(absl::string_view text);
// Milliseconds that the thread ran or waited for a processor, by the text of /proc/PID/schedstat;
// absent: it does not say.
std::optional<int64_t> WantedMs(absl::string_view text);

// The numbers of the processes that a process has started, and of those that these have started:
// at most kMaxTreeProcesses. Lists the threads of each.
std::vector<int64_t> ProcessesBelow(const std::string& proc_root, int64_t pid);

// Follows the work of one process after another. Not synchronised.
class ProcessTree {
 public:
  // `proc_root` is normally "/proc".
  explicit ProcessTree(std::string proc_root);

  // Reads two small files of each process, and one more of the process itself; the children are
  // searched now and then. The work of a
  // child before it is first seen does not count. Absent: the process has gone. `now` is monotonic.
  std::optional<ProcessWork> Read(const ProcessId& process, absl::Duration now);

 private:
  struct Counters {
    ProcessId id;
    std::optional<int64_t> io_bytes;
    int64_t cpu_ms = 0;
  };

  std::optional<Counters> ReadOne(int64_t pid) const;
  void AddWanted();

  const std::string proc_root_;
  const int64_t ticks_per_second_;
  std::optional<ProcessId> process_;
  std::vector<int64_t> pids_;  // the process, then its children
  absl::Duration next_list_ = -absl::InfiniteDuration();
  std::map<int64_t, Counters> last_;  // by pid
  std::optional<int64_t> last_wanted_ms_;
  ProcessWork total_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_TREE_H_
