#include <algorithm>
#include <numeric>
#include <set>

#include "tests/scenarios/kinds/build.h"

namespace rapideye::scenarios {
namespace {

// The cause follows from who never launched; that it was the input pipeline only
// from a progress page or a stack.
Answer StallAnswer(const Plan& plan, const std::vector<int>& workers, int seen, int unseen) {
  Answer answer = WorkerAnswer(plan, Cause::kDataInputStall, Detail::kNone, workers);
  if (seen > 0) answer.details.push_back(Detail::kInputPipeline);
  if (unseen > 0) answer.details.push_back(Detail::kProgramNotQueued);
  return answer;
}

// Hosts that launch nothing more, at the beginning of a step. In every slice some
// host goes on, so that the ones that do not are seen to be waited for.
Plan Stall(int count, Random& random) {
  Plan plan{.job = MakeJob({.layout = {.min_tasks = count > 1 ? 4 : 2}}, random)};
  const Layout& layout = plan.job.layout;
  const int launch = PickLaunch(plan.job, random, 0);
  std::set<int> chosen;
  const auto most = static_cast<size_t>(std::min(count, layout.slices * (layout.tasks / 2)));
  std::vector<int> per_slice(static_cast<size_t>(layout.slices), 0);
  while (chosen.size() < most) {
    const int worker = PickWorker(plan.job, random);
    int& taken = per_slice[static_cast<size_t>(layout.SliceOfWorker(worker))];
    if (taken >= std::max(1, layout.tasks / 2) || !chosen.insert(worker).second) continue;
    ++taken;
  }
  int seen = 0;
  for (const int worker : chosen) {
    bool waiting = false;
    AddInputStall(worker, launch, random, plan, &waiting);
    seen += waiting ? 1 : 0;
    plan.reference_device = layout.FirstDevice(worker);
  }
  const std::vector<int> workers(chosen.begin(), chosen.end());
  if (workers.size() > 1) plan.told_by = Witness::kEach;
  plan.truth.accepted = {StallAnswer(plan, workers, seen, static_cast<int>(workers.size()) - seen)};
  return plan;
}

// No host launches: nobody waits for anybody, and only what the hosts say of
// themselves tells it from a pause. Whoever is named of them is right.
Plan StallEverywhere(Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  const Layout& layout = plan.job.layout;
  const int launch = PickLaunch(plan.job, random, 0);
  std::vector<int> workers(static_cast<size_t>(layout.workers()));
  std::iota(workers.begin(), workers.end(), 0);
  int seen = 0;
  for (const int worker : workers) {
    bool waiting = false;
    AddInputStall(worker, launch, random, plan, &waiting);
    seen += waiting ? 1 : 0;
  }
  Answer answer = WorkerAnswer(plan, Cause::kDataInputStall, Detail::kInputPipeline, workers);
  answer.among = true;
  plan.truth.accepted = {answer};
  plan.told_by = Witness::kEach;
  if (seen == 0) plan.truth.needs = {Need::kUndecidable};
  return plan;
}

// One host or a few of different slices whose cores have launched and stand at the
// entry, at an infeed or (pc 0, with more queued behind) for want of arguments. An
// infeed that no one names could be any instruction.
Plan StallAtEntry(Random& random) {
  const bool infeed = random.Chance(0.6);
  Plan plan{.job = MakeJob({.infeed = infeed}, random)};
  const Layout& layout = plan.job.layout;
  const int worker = PickWorker(plan.job, random);
  const int launch = PickLaunch(plan.job, random, 0);
  std::vector<int> workers = {worker};
  // Both workers have the same task: a transfer between their slices must not hold up either.
  if (layout.slices > 1 && random.Chance(0.2)) {
    workers.push_back((worker + layout.tasks) % layout.workers());
  }
  int seen = 0;
  for (const int stalled : workers) {
    bool waiting = false;
    AddInputStall(stalled, launch, random, plan, &waiting);
    plan.faults.entry.push_back({.worker = stalled, .launch = launch});
    seen += waiting ? 1 : 0;
  }
  plan.faults.idle.clear();
  plan.reference_device = layout.FirstDevice(worker);
  const int unseen = static_cast<int>(workers.size()) - seen;
  if (workers.size() > 1) plan.told_by = Witness::kEach;
  plan.truth.accepted = {StallAnswer(plan, workers, 1, unseen)};
  if (infeed && unseen > 0) plan.truth.needs = {Need::kHlo};
  return plan;
}

// A host that launches nothing more, anywhere in the step, for a reason of its own.
Plan NotQueued(Random& random) {
  Plan plan{.job = MakeJob({}, random)};
  const int worker = PickWorker(plan.job, random);
  plan.faults.idle = {{.worker = worker, .launch = PickLaunch(plan.job, random)}};
  plan.reference_device = plan.job.layout.FirstDevice(worker);
  if (random.Chance(0.5)) {
    plan.stacks.push_back({.worker = worker,
                           .frames = {"threading.py:320 wait", "metrics/writer.py:88 flush",
                                      "train.py:188 log_metrics", "train.py:340 main"}});
  }
  if (random.Chance(0.5)) plan.phases.push_back({.worker = worker, .phase = Phase::kStep});
  plan.truth.accepted = {
      WorkerAnswer(plan, Cause::kDataInputStall, Detail::kProgramNotQueued, {worker})};
  return plan;
}

}  // namespace

Plan BuildInput(Kind kind, Random& random) {
  Plan plan;
  switch (kind) {
    case Kind::kInputSeveralHosts:
      plan = Stall(static_cast<int>(random.Between(2, 4)), random);
      break;
    case Kind::kInputAllHosts:
      plan = StallEverywhere(random);
      break;
    case Kind::kInputAtEntry:
      plan = StallAtEntry(random);
      break;
    case Kind::kProgramNotQueued:
      plan = NotQueued(random);
      break;
    default:
      plan = Stall(1, random);
      break;
  }
  plan.truth.removal = false;
  return plan;
}

}  // namespace rapideye::scenarios
