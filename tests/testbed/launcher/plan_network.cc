#include "absl/strings/str_cat.h"
#include "tests/testbed/launcher/plans.h"

namespace rapideye::testbed {
namespace {

Order CutFrom(WorkerId worker, WorkerId peer) {
  return {worker, absl::StrCat("link-cut peer=", FormatWorker(peer))};
}

}  // namespace

Injection LinkCut(const JobPlan& plan) {
  Picks picks(plan.seed);
  const WorkerId worker = picks.Worker(plan.shape);
  const std::vector<WorkerId> neighbours = RingNeighbours(plan.shape, worker);
  const WorkerId peer = neighbours[picks.Below(static_cast<int>(neighbours.size()))];
  return {.orders = {CutFrom(worker, peer), CutFrom(peer, worker)},
          .description = absl::StrCat("the link between ", HostOf(plan.shape, worker), " and ",
                                      HostOf(plan.shape, peer), " is cut"),
          .truth = {.cause = "NETWORKING_ISSUE",
                    .detail = "DCN_LINK",
                    .culprits = {Host(plan, worker), Host(plan, peer)},
                    .any_of_them = false},
          .silenced = {},
          .agents_lost = {}};
}

Injection HostCut(const JobPlan& plan) {
  const WorkerId worker = Picks(plan.seed).Worker(plan.shape);
  Injection injection;
  injection.description = absl::StrCat("all links of ", HostOf(plan.shape, worker), " are cut");
  injection.truth = {"NETWORKING_ISSUE", "DCN_HOST", {Host(plan, worker)}, false};
  injection.orders = {{worker, "link-cut peer=all"}};
  for (WorkerId peer : Peers(plan.shape, worker)) {
    injection.orders.push_back(CutFrom(peer, worker));
  }
  return injection;
}

}  // namespace rapideye::testbed
