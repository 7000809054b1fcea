// StopSignals waits for the signal that ends a program.
#ifndef RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_
#define RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_

#include <signal.h>

#include <functional>
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

  // Catches SIGHUP, too, which ends nothing from now on: `reload` is to read the files again
  // that the settings name. It runs in Wait, or in HandleHangup, on the thread of that.
  // INTERNAL if the process has no descriptors left.
  absl::Status OnHangup(std::function<void()> reload);
  // Readable from a SIGHUP until that has been handled; -1 without OnHangup.
  int hangup_fd() const { return hangup_read_end_; }
  // For those that poll hangup_fd() themselves; does nothing if none has come.
  void HandleHangup();

  // The signal that came, or nullopt if none has within `timeout`. The signal
  // stays: every later call gives it again.
  std::optional<int> Wait(absl::Duration timeout = absl::InfiniteDuration());

 private:
  StopSignals() = default;

  int read_end_ = -1;
  int write_end_ = -1;
  int hangup_read_end_ = -1;
  int hangup_write_end_ = -1;
  std::function<void()> reload_;
};

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_PROCESS_SIGNALS_H_
