// The worker's input dries up: at its source, so that the host has no batch to
// launch a step with, or on its way to the chips, which then stand at the infeed
// of a step that was launched.
#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyInputDry(const ControlLine& line, Worker& worker) {
  absl::StatusOr<std::string> where = StringArgument(line, "where");
  if (!where.ok()) return where.status();
  if (*where != "launch" && *where != "entry") {
    return absl::InvalidArgumentError(
        absl::StrCat("where=", *where, ": give launch or entry (of the program)"));
  }
  absl::StatusOr<int> after = IntegerArgument(line, "after", 0);
  if (!after.ok()) return after.status();
  const InputPipe::End end = *where == "launch" ? InputPipe::End::kSource : InputPipe::End::kInfeed;
  worker.input().DryUp(end, *after, [&worker](int64_t step) {
    worker.AnnounceEffect("input-dry", absl::StrCat("step=", step));
  });
  worker.recovery().OnHeal([&worker] { worker.input().Replenish(); });
  return absl::OkStatus();
}

}  // namespace

const Fault kInputDry = {"input-dry",
                         "where=launch|entry [after=STEP]: no more batches for the host to launch "
                         "with, or for the launched programs to begin with",
                         ApplyInputDry};

}  // namespace rapideye::testbed
