// The worker is given a different compilation of the program its peers run: the
// same module name, other fingerprint, other pcs, by another build of libtpu.
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/replace_program.h"

namespace rapideye::testbed {
namespace {

absl::Status Apply(const ControlLine& line, Worker& worker) {
  return ReplaceProgram(line, worker, "other-compilation", [](const Worker& w, int number) {
    StepOptions options = w.options().step;
    options.compilation = Compilation::kDivergent;
    return MakeStep(options)[number];
  });
}

}  // namespace

const Fault kOtherCompilation = {
    "other-compilation", "[program=N]: the N-th program of each step, compiled differently", Apply};

}  // namespace rapideye::testbed
