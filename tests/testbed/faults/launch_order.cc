// The worker queues the two programs of each step the other way round.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

absl::Status ApplyLaunchOrder(const ControlLine&, Worker& worker) {
  if (worker.step().size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch-order: needs two programs a step, here are ", worker.step().size()));
  }
  // Shared, because the host copies its rewrites.
  auto announced = std::make_shared<bool>(false);
  worker.host().AddRewrite(
      [&worker, announced](int64_t number, Step& step, const std::stop_token&) {
        std::swap(step[0], step[1]);
        if (std::exchange(*announced, true)) return;
        worker.AnnounceEffect("launch-order",
                              absl::StrCat("step=", number, " first=", step[0]->module));
      });
  return absl::OkStatus();
}

}  // namespace

const Fault kLaunchOrder = {"launch-order", "the two programs of each step change places",
                            ApplyLaunchOrder};

}  // namespace rapideye::testbed
