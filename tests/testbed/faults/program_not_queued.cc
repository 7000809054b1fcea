// The host hands its chips nothing more: they run out of work, others wait in
// the launch that they never get.
#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"
#include "tests/testbed/faults/hold.h"

namespace rapideye::testbed {
namespace {

absl::Status Apply(const ControlLine&, Worker& worker) {
  worker.host().AddRewrite([&worker](int64_t number, Step& step, const std::stop_token& stop) {
    worker.AnnounceEffect("program-not-queued", absl::StrCat("step=", number));
    HoldUntilStop(stop);
    step.clear();
  });
  return absl::OkStatus();
}

}  // namespace

const Fault kProgramNotQueued = {"program-not-queued", "the host queues nothing more", Apply};

}  // namespace rapideye::testbed
