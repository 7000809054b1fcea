// RunProcess runs a program once, without a shell, and is done with it within a time limit.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_RUN_PROCESS_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_RUN_PROCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace rapideye {

struct ProcessOptions {
  // Takes the output of the process as it comes, on the calling thread. False: it is enough, and
  // the process is stopped at once.
  using Output = std::function<bool(std::string_view bytes)>;

  std::vector<std::string> command;             // the path of the program, then its arguments
  std::vector<std::string> environment;         // NAME=value; nothing else is inherited
  int input = -1;                               // a descriptor; -1: /dev/null
  Output output;                                // of standard output
  Output error_output = nullptr;                // empty: goes where standard output goes
  absl::Duration timeout;                       // then it is stopped (SIGTERM)
  absl::Duration grace = absl::ZeroDuration();  // then it is killed; zero: at once
  // Time to wait for a process that was killed; then it is left to the kernel.
  absl::Duration reap_patience = absl::InfiniteDuration();
  int interrupt = -1;                        // once it is readable, as if the time were up
  std::optional<uint64_t> cpu_seconds = {};  // then the kernel kills it
  bool survives_closed_output = false;       // its writes fail then, and do not end it
};

struct ProcessOutcome {
  enum class Stopped { kNo, kTimedOut, kInterrupted, kByOutput };

  Stopped stopped = Stopped::kNo;
  std::optional<int> exit_status;  // if it ended by itself
  std::optional<int> signal;       // that ended it; neither is set: the kernel has not let it go
  // The step of starting it that failed, and errno; empty: it was started.
  std::string not_started;
  int error = 0;
  absl::Duration took;
};

// Runs the program in a process group of its own and in the working directory of this program,
// and waits for it. It inherits no descriptor but the standard ones, and no blocked or ignored
// signal but SIGPIPE, if it is to survive that. What it leaves running in its group is killed
// when it ends or is stopped. Should this program end first, the process goes on to its own end.
//
// Blocks for at most timeout + grace + reap_patience. Thread-safe. No other thread may
// wait for children of any pid meanwhile.
ProcessOutcome RunProcess(const ProcessOptions& options);

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_RUN_PROCESS_H_
