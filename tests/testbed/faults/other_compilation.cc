// The worker is given a different compilation of the program its peers run: the
// same module name, other fingerprint, other pcs; by another build of libtpu, with another value
// of a flag, or of a script that makes larger batches.
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/replace_program.h"

namespace rapideye::testbed {
namespace {

template <Compilation kCompilation>
absl::Status ApplyOtherCompilation(const ControlLine& line, Worker& worker) {
  return ReplaceProgram(line, worker, "other-compilation", [](const Worker& w, int number) {
    StepOptions options = w.options().step;
    options.compilation = kCompilation;
    return MakeStep(options)[number];
  });
}

}  // namespace

const Fault kOtherCompilation = {"other-compilation",
                                 "[program=N]: the N-th program of each step, by another compiler",
                                 ApplyOtherCompilation<Compilation::kDivergent>};
const Fault kOtherFlags = {"other-flags",
                           "[program=N]: the N-th program of each step, with another flag",
                           ApplyOtherCompilation<Compilation::kOtherFlags>};
const Fault kOtherSource = {"other-source",
                            "[program=N]: the N-th program of each step, of another script",
                            ApplyOtherCompilation<Compilation::kOtherSource>};

}  // namespace rapideye::testbed
