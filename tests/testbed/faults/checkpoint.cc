// The worker's loop writes a checkpoint and launches nothing meanwhile, which is no fault:
// the others, in their launches, wait for it.
#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyCheckpoint(const ControlLine& line, Worker& worker) {
  absl::StatusOr<int> seconds = IntegerArgument(line, "seconds");
  if (!seconds.ok()) return seconds.status();
  if (*seconds < 1) return absl::InvalidArgumentError("seconds: give 1 or more");
  worker.host().CheckpointFor(absl::Seconds(*seconds), [&worker](int64_t step) {
    worker.AnnounceEffect("checkpoint", absl::StrCat("step=", step));
  });
  return absl::OkStatus();
}

}  // namespace

const Fault kCheckpoint = {
    "checkpoint", "seconds=N: for so long the loop writes a checkpoint and launches nothing",
    ApplyCheckpoint};

}  // namespace rapideye::testbed
