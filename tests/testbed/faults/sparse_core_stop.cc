// A SparseCore stops, until it is healed, in the work that its chip's TensorCore has handed
// it, and will wait for.
#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplySparseCoreStop(const ControlLine& line, Worker& worker) {
  absl::StatusOr<int> chip = IntegerArgument(line, "chip");
  if (!chip.ok()) return chip.status();
  absl::StatusOr<int> index = IntegerArgument(line, "core", 0);
  if (!index.ok()) return index.status();
  if (!worker.options().step.offload) {
    return absl::InvalidArgumentError("sparse-core-stop: the job offloads nothing to SparseCores");
  }
  const std::vector<Core*> cores = worker.SparseCoresOf(*chip);
  if (*index < 0 || *index >= static_cast<int>(cores.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("chip=", *chip, " core=", *index, ": there is no such SparseCore"));
  }
  Core& core = *cores[*index];
  core.AddGate([&worker, &core, age = worker.recovery().age()](const Launch& launch, int operation,
                                                               const std::stop_token& stop) {
    if (worker.recovery().Over(age)) return;
    worker.AnnounceEffect("sparse-core-stop",
                          absl::StrCat("chip=", core.id().chip, " core=", core.id().index,
                                       " launch=", launch.launch_id,
                                       " hlo=", launch.program->operations[operation].hlo));
    worker.recovery().Await(age, stop);
  });
  return absl::OkStatus();
}

}  // namespace

const Fault kSparseCoreStop = {"sparse-core-stop",
                               "chip=C [core=N]: the N-th SparseCore of the chip stops in its work",
                               ApplySparseCoreStop};

}  // namespace rapideye::testbed
