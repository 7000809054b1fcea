// Finds the training process in /proc and watches it.
#ifndef RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/process/fetch_oom.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/process/state.h"
#include "proto/common/address/address.h"

namespace rapideye::agent {

// The training process is the process that listens at the runtime's address. Once found it
// is followed by number and start time, also beyond its end, until another process listens
// there; while it lives, the listener is looked up only now and then. A command that the agent
// itself has started is the training process until a process listens; if it is a script or a
// launcher, the process that trains is found among those below it. Its exit status stands for
// that of a process that it started in turn. Without a command and a listener, the training
// process is found by its log. Not synchronised.
class ProcessWatch {
 public:
  // `proc_root` is normally "/proc". `command`: number of the process that the agent
  // itself has started. `sys_root`: normally "/sys".
  ProcessWatch(std::string proc_root, Endpoint runtime,
               std::optional<int64_t> command = std::nullopt, std::string sys_root = "/sys",
               std::vector<std::string> logs = {}, std::string dev_root = "/dev");
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // A few small files of a process that is known; a search through all
  // processes, bounded in time and not repeated too soon, for one that is not.
  // `now` is monotonic.
  ProcessReading Read(absl::Duration now);

  // A descriptor that becomes readable when the process ends, before its parent
  // has learnt of it, and then when the command ends that started it; -1: there is none. Valid
  // until the next Read.
  int exit_descriptor() const { return pidfd_ >= 0 ? pidfd_ : command_pidfd_; }

  // Inodes of the sockets that the process has open; absent if it is unknown, has
  // ended or may not be looked into.
  std::optional<std::set<uint64_t>> SocketInodes() const;

 private:
  std::string PathOf(int64_t pid, absl::string_view file) const;
  std::optional<ProcessStat> ReadStat(int64_t pid) const;
  std::set<uint64_t> FindListeners() const;
  void Follow();
  void FollowCommand();
  // True while a process has ended that the command has started, and the command, which knows how,
  // has not.
  bool AwaitsCommand();
  void SetEnded(ProcessState state, std::optional<int32_t> exit_status);
  // Follows the process that owns one of the sockets from now on; if there is none,
  // says why.
  std::string Search(const std::set<uint64_t>& inodes);
  // Follows the process that writes the log, if no process is followed yet.
  void SearchByLog(absl::Duration now);
  // Follows the process that trains below a command that does not train by itself; once it has
  // ended, the next one that the command starts. A command that has worked itself may be a Python
  // program that only launches: it is compared with those below it.
  void SearchBelowCommand(absl::Duration now);
  void Adopt(const ProcessStat& stat);
  static void CloseDescriptor(int& descriptor);

  const std::string proc_root_;
  const Endpoint runtime_;
  const std::optional<int64_t> command_;
  const int64_t ticks_per_second_;
  const std::vector<std::string> logs_;
  const std::string dev_root_;

  OomWatch oom_;
  std::optional<ProcessSample> process_;
  bool permitted_ = false;
  bool command_permitted_ = false;
  bool below_command_ = false;  // the process was found there
  // The process's listening sockets: a process that holds them after its end is its child.
  std::set<uint64_t> listeners_;
  int pidfd_ = -1;
  int command_pidfd_ = -1;  // while the command's end is awaited
  absl::Duration next_listener_look_ = -absl::InfiniteDuration();  // while it lives
  absl::Duration next_search_ = -absl::InfiniteDuration();
  absl::Duration next_log_search_ = -absl::InfiniteDuration();
  absl::Duration next_command_search_ = -absl::InfiniteDuration();
  absl::Duration command_search_spacing_ = kStartedSpacing;
  size_t most_candidates_ = 0;                // that a command had which may train itself
  std::optional<absl::Duration> ended_seen_;  // when the known process was first seen ended
  std::string unavailable_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROCESS_FETCH_H_
