// The worker is given another program than its peers, from the next step on.
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/replace_program.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyOtherProgram(const ControlLine& line, Worker& worker) {
  return ReplaceProgram(line, worker, "other-program",
                        [](const Worker& w, int) { return MakeOtherProgram(w.options().step); });
}

}  // namespace

const Fault kOtherProgram = {
    "other-program", "[program=N]: another program takes the place of the N-th of each step",
    ApplyOtherProgram};

}  // namespace rapideye::testbed
