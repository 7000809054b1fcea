// StopSignals waits for the signal that ends a program.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_

#include <signal.h>

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::program {

// Catches SIGTERM and SIGINT for as long as it lives, whichever thread the kernel
// gives them to, and lets one thread wait for them: by Wait, or by polling fd()
// beside other descriptors. A second signal is caught like the first: SIGKILL
// ends a program that does not end by itself. Once it is destroyed
// both signals are ignored, so that one that comes while the program is on its
// way out does not turn a clean end into a death. At most one may exist at a time.
class StopSignals {
 public:
  // INTERNAL if the process has no descriptors left; FAILED_PRECONDITION if there
  // is one already.
  static absl::StatusOr<StopSignals> Catch();
  ~StopSignals();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;

  // Readable from the first signal on.
  int fd() const { return read_end_; }
  // The signal that came, or nullopt if none has within `timeout`. The signal
  // stays: every later call gives it again.
  std::optional<int> Wait(absl::Duration timeout = absl::InfiniteDuration());

 private:
  StopSignals() = default;

  int read_end_ = -1;
  int write_end_ = -1;
};

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_
