// MadeUpKernel fakes the files by which a host's kernel reports TPUs: their devices and error
// counters below `sys`, its log in `dev/kmsg`.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_MADE_UP_KERNEL_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_MADE_UP_KERNEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rapideye::testbed {

// Fault of a chip as its host's kernel reports it.
enum class KernelFault { kLogLine, kFatalError };

class MadeUpKernel {
 public:
  explicit MadeUpKernel(std::string root) : root_(std::move(root)) {}

  std::string sys() const { return root_ + "/sys"; }
  std::string dev() const { return root_ + "/dev"; }

  // Devices of so many chips, in an order of their own, with errors of before the
  // job: counted ones, and one in the log.
  absl::Status Create(int chips) const;
  absl::Status Tell(KernelFault fault, int chip) const;

 private:
  static std::string AddressOf(int chip);
  absl::Status CreateChip(int chip) const;
  absl::Status CountErrors(int chip, int fatal) const;
  // Writes a line of the driver about a chip, with the dictionary that the kernel adds, as if so
  // many seconds after the kernel's start; now, if negative.
  absl::Status Log(int chip, absl::string_view text, double since_boot) const;

  std::string root_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_MADE_UP_KERNEL_H_
