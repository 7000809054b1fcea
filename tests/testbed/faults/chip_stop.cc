// A chip stops, until it is healed, inside a compute operation, before or after the last
// collective of a program: a TensorCore that hangs.
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/place.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyChipStop(const ControlLine& line, Worker& worker) {
  return FaultAtPlace(
      line, worker, "chip-stop",
      [&recovery = worker.recovery(), age = worker.recovery().age()](
          Core&, const Launch&, int, const std::stop_token& stop) { recovery.Await(age, stop); });
}

}  // namespace

const Fault kChipStop = {"chip-stop",
                         RAPIDEYE_PLACE_ARGUMENTS
                         ": the chip stops in the N-th compute operation before or after the "
                         "last collective",
                         ApplyChipStop};

}  // namespace rapideye::testbed
