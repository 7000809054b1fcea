// Jobs that work, work slowly, pause or have ended.
#include <algorithm>

#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

void Training(Draft& draft) {
  draft.OperatorAsks();
  draft.NoHang({"RUNNING", "PAUSED"});
}

// An operator asks while most write a checkpoint.
void Saving(Draft& draft) {
  draft.OperatorAsks();
  draft.plan.looks_at_step->second = draft.random.Uniform(
      0, 0.2 * draft.plan.schedule.step_seconds + draft.plan.schedule.write_seconds);
  draft.NoHang({"RUNNING", "PAUSED"});
}

void Evaluating(Draft& draft) {
  draft.OperatorAsks();
  draft.plan.looks_at_step->second = draft.plan.schedule.step_seconds * draft.random.Uniform(0, 2);
  draft.NoHang({"RUNNING", "PAUSED"});
}

void Compiling(Draft& draft) {
  draft.plan.trigger = "operator";
  draft.plan.looks_at_step = {1, draft.random.Uniform(0.2, 5)};
  draft.NoHang({});
}

// The threshold was learnt from steps that take as long as that of the slow worker.
void LearnFrom(double seconds, Draft& draft) {
  draft.plan.threshold = std::max(draft.plan.threshold, 2 * seconds);
}

void SlowRank(Draft& draft) {
  Training(draft);
  const double factor = draft.random.Uniform(1.5, 6);
  draft.plan.slow_workers[draft.AnyWorker()] = factor;
  LearnFrom(factor * draft.plan.schedule.step_seconds, draft);
}

void SlowLoader(Draft& draft) {
  Training(draft);
  const double factor = draft.random.Uniform(3, 8);
  draft.plan.slow_loaders[draft.AnyWorker()] = factor;
  LearnFrom(factor * draft.plan.schedule.batch_seconds, draft);
}

void LossyHost(Draft& draft) {
  Training(draft);
  Fault& fault = draft.Break(Happening::kLossy, draft.AnyWorker());
  fault.step = 1;
  fault.factor = draft.random.Uniform(3, 30);
}

void Firewall(Draft& draft) {
  Training(draft);
  Fault& fault = draft.Break(Happening::kProbesDropped, draft.AnyWorker());
  fault.step = 0;
  fault.both_ways = draft.random.Chance(0.5);
}

void AgentMissing(Draft& draft) {
  Training(draft);
  draft.plan.missing_agents = {draft.AnyWorker()};
}

void Ended(Draft& draft) {
  draft.plan.schedule.last_step = draft.plan.fault_step;
  draft.plan.trigger = "exit";
  draft.plan.evidence.logs = true;  // how they ended
  draft.NoHang({"ENDED"});
}

void CrashAtTheEnd(Draft& draft) {
  Ended(draft);
  Fault& fault = draft.Break(Happening::kCrashesAtEnd, draft.AnyWorker());
  fault.step = 1;
  fault.signal = 6;
}

void SigtermIgnored(Draft& draft) {
  Training(draft);
  Fault& fault = draft.Break(Happening::kWarns, draft.AnyWorker());
  fault.step = 1;
  fault.log = LogKind::kPreempted;
  fault.words = "preemption_notifier.cc:90] SIGTERM caught at 2026-11-20T12:44:15";
  draft.plan.evidence.logs = true;
}

}  // namespace

std::vector<Kind> HealthyKinds() {
  const ShapeNeeds two{.workers = 2};
  return {
      {"training", {}, Training},
      {"saving", {.save = true}, Saving},
      {"evaluating", {.evaluation = true}, Evaluating},
      {"compiling", {}, Compiling},
      {"slow-rank", {.shape = two}, SlowRank},
      {"slow-loader", {.shape = two}, SlowLoader},
      {"lossy-host", {.shape = {.slices = 2}}, LossyHost},
      {"firewall", {.shape = two}, Firewall},
      {"agent-missing", {.shape = two}, AgentMissing},
      {"ended", {}, Ended},
      {"crash-at-the-end", {.shape = two}, CrashAtTheEnd},
      {"sigterm-ignored", {.shape = two}, SigtermIgnored},
  };
}

}  // namespace rapideye::world
