// What is read of the training process: its state, and at a hang its stacks and who
// else holds its chips.
#ifndef RAPIDEYE_AGENT_DAEMON_PROCESS_SOURCES_H_
#define RAPIDEYE_AGENT_DAEMON_PROCESS_SOURCES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/daemon/source_names.h"
#include "agent/sources/process/fetch.h"
#include "agent/sources/stacks/fetch.h"

namespace rapideye::agent {

// Not synchronised: one thread at a time.
class ProcessSources {
 public:
  // `runtime` is where the training process listens. The roots are where its /proc is
  // to be seen, and how it calls its /dev; `command` is as of ProcessWatch.
  ProcessSources(const std::string& proc_root, std::string dev_root, Endpoint runtime,
                 std::optional<int64_t> command, const DisabledSources& disabled);

  // Sets what concerns the process. `now` is monotonic. Stacks are not waited for.
  void Read(HostLook look, absl::Duration now, HostReading& reading);

  // As of ProcessWatch.
  int exit_descriptor() const { return process_.exit_descriptor(); }
  std::optional<std::set<uint64_t>> SocketInodes() const { return process_.SocketInodes(); }

 private:
  void ReadState(absl::Duration now, HostReading& reading);

  const std::string proc_root_;
  const std::string dev_root_;
  ProcessWatch process_;
  std::optional<StackTaker> stacks_;
  ProcessState last_state_ = ProcessState::kUnspecified;
  absl::Duration next_holder_look_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_PROCESS_SOURCES_H_
