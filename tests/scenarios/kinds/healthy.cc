#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

constexpr int kManyLaunches = 12;
constexpr int64_t kLongThresholdMs = 300000;

// A pause of the whole job, or of one host that all others wait for. The hosts
// say what they do on their pages; burning processor time says it, too.
void Pause(Phase phase, Random& random, Plan& plan) {
  const Layout& layout = plan.job.layout;
  const bool everyone = random.Chance(0.75);
  const int launch = PickLaunch(plan.job, random);
  const int one = PickWorker(plan.job, random);
  for (int worker = 0; worker < layout.workers(); ++worker) {
    if (!everyone && worker != one) continue;
    plan.faults.idle.push_back({.worker = worker, .launch = launch});
    PhaseReport report{.worker = worker, .burns_cpu = phase == Phase::kCompile};
    // At least one host states the phase on its page.
    if (worker == one || random.Chance(0.7)) report.phase = phase;
    plan.phases.push_back(report);
  }
  plan.witnesses = {one};
  plan.reference_device = layout.FirstDevice(one);
  // A pause between launches may last; to stand inside one for longer than is
  // allowed is never well.
  plan.standstill = 0.01 * static_cast<double>(random.Between(20, everyone ? 150 : 85));
}

}  // namespace

// Jobs that are well: running; running slowly (one device takes many times as
// long, and everyone waits for it within what is allowed); compiling, from the
// start or in the middle; at a checkpoint or an evaluation.
Plan BuildHealthy(Kind kind, Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  switch (kind) {
    case Kind::kSlow:
      plan.faults.slow = {{.device = PickDevice(plan.job, random),
                           .factor = static_cast<int>(random.Between(8, 30))}};
      plan.launches = kManyLaunches;
      plan.moment = Moment::kMidway;
      plan.threshold_ms = kLongThresholdMs;
      break;
    case Kind::kCompiling:
      Pause(Phase::kCompile, random, plan);
      if (plan.faults.idle.size() > 1 && random.Chance(0.3)) {
        plan.nothing_launched = true;
        plan.unlearnt = true;
        plan.faults.idle.clear();
        for (int worker = 0; worker < plan.job.layout.workers(); ++worker) {
          plan.faults.idle.push_back({.worker = worker, .launch = 0});
        }
      }
      break;
    case Kind::kCheckpointing:
      Pause(random.Chance(0.7) ? Phase::kCheckpoint : Phase::kEval, random, plan);
      break;
    default:
      plan.launches = kManyLaunches;
      plan.moment = Moment::kMidway;
      break;
  }
  plan.truth.accepted = {{.cause = Cause::kNoHang}};
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios
