// A core halts: the compiled program has failed one of its own checks, or the
// hardware has reported an error. The runtime logs it and goes on serving.
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/place.h"

namespace rapideye::testbed {
namespace {

std::string HaltText(absl::string_view why, const Launch& launch, int operation) {
  const Operation& op = launch.program->operations[operation];
  const std::string at = absl::StrCat("TensorCoreSequencer:", op.tag, ":0x", absl::Hex(op.pc));
  if (why == "hardware") {
    return absl::StrCat(
        "INTERNAL: Accelerator device halted prematurely. observed errors are: [Hardware] Node 0 "
        "halted unexpectedly at tag:pc ",
        at, ". ", HloLocation(*launch.program, op));
  }
  return absl::StrCat(
      "Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to "
      "an on-device check-failure. Node 0 halted unexpectedly at tag:pc ",
      at, " (from ", at,
      "): BoundsCheck 92 [deref of %s931] for %937 = dma.hbm_to_vmem [thread:$0]. ",
      HloLocation(*launch.program, op));
}

absl::Status ApplyCoreHalt(const ControlLine& line, Worker& worker) {
  absl::StatusOr<std::string> why = StringArgument(line, "why");
  if (!why.ok()) return why.status();
  if (*why != "assertion" && *why != "hardware") {
    return absl::InvalidArgumentError(absl::StrCat("why=", *why, ": give assertion or hardware"));
  }
  return FaultAtPlace(line, worker, "core-halt",
                      [&worker, why = *why](Core& core, const Launch& launch, int operation,
                                            const std::stop_token&) {
                        const std::string text = HaltText(why, launch, operation);
                        worker.Log("E", "real_program_continuator.cc:1350", text);
                        core.Halt(text);
                      });
}

}  // namespace

const Fault kCoreHalt = {"core-halt",
                         RAPIDEYE_PLACE_ARGUMENTS " why=assertion|hardware: the core halts there",
                         ApplyCoreHalt};

}  // namespace rapideye::testbed
