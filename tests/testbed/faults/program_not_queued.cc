// The host hands its chips nothing more until it is healed: they run out of work, others wait in
// the launch that they never get.
#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyProgramNotQueued(const ControlLine&, Worker& worker) {
  worker.host().AddRewrite([&worker, age = worker.recovery().age()](int64_t number, Step& step,
                                                                    const std::stop_token& stop) {
    if (worker.recovery().Over(age)) return;
    worker.AnnounceEffect("program-not-queued", absl::StrCat("step=", number));
    worker.recovery().Await(age, stop);
    if (stop.stop_requested()) step.clear();
  });
  return absl::OkStatus();
}

}  // namespace

const Fault kProgramNotQueued = {"program-not-queued", "the host queues nothing more",
                                 ApplyProgramNotQueued};

}  // namespace rapideye::testbed
