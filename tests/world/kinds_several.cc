// Several independent faults in one job: at once, one after the other, or during the recovery
// from another.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

constexpr int kTries = 30;  // to find a place that the other fault has not touched

const Kind& Single(std::string_view name) {
  static const auto& kinds = *[] {
    auto* all = new std::vector<Kind>;
    for (auto part : {ChipKinds(), ProcessKinds(), NetworkKinds(), HostKinds()}) {
      std::move(part.begin(), part.end(), std::back_inserter(*all));
    }
    return all;
  }();
  return *std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name; });
}

std::set<int> Touched(const std::vector<Fault>& faults, size_t from) {
  std::set<int> workers;
  for (size_t i = from; i < faults.size(); ++i) {
    workers.insert(faults[i].worker);
    if (faults[i].what == Happening::kPairCut) {
      workers.insert(faults[i].other);
    }
  }
  return workers;
}

bool Apart(const Shape& shape, const std::set<int>& a, const std::set<int>& b, bool slices) {
  return std::none_of(a.begin(), a.end(), [&](int one) {
    return std::any_of(b.begin(), b.end(), [&](int other) {
      return one == other || (slices && shape.slice_of_worker(one) == shape.slice_of_worker(other));
    });
  });
}

// Lets a second fault befall workers that the first one did not touch; the later one of the two
// comes while the job already stands, or both at once.
void AndThen(Draft& draft, std::string_view second, bool other_slice = false) {
  Plan& plan = draft.plan;
  const Plan before = plan;
  const size_t first_faults = plan.faults.size();
  const std::vector<Accepted> first = plan.truth.accepted;
  const std::set<int> touched = Touched(plan.faults, 0);
  for (int i = 0; i < kTries; ++i) {
    plan = before;
    plan.truth.accepted.clear();
    Single(second).befall(draft);
    if (Apart(plan.shape, touched, Touched(plan.faults, first_faults), other_slice)) {
      break;
    }
  }
  plan.truth.events.push_back({.faults = first_faults, .accepted = first});
  plan.truth.events.push_back(
      {.faults = plan.faults.size() - first_faults, .accepted = plan.truth.accepted});
  plan.truth.accepted.clear();
  plan.truth.activity.reset();
  // Both faults shall have happened at the time of the look.
  plan.looks_after_fault.reset();
  plan.trigger = "no-progress";
  const bool at_once = draft.random.Chance(0.4);
  const bool second_is_later = draft.random.Chance(0.7);
  const double apart = at_once ? 0 : draft.random.Uniform(0.05, 0.7) * plan.threshold;
  for (size_t i = 0; i < plan.faults.size(); ++i) {
    if ((i >= first_faults) == second_is_later) {
      plan.faults[i].delay += apart;
    }
  }
}

void Begin(Draft& draft, std::string_view kind) { Single(kind).befall(draft); }

void TwoChipsApart(Draft& draft) {
  Begin(draft, "core-in-compute");
  AndThen(draft, "core-in-compute", true);
}

void ChipAndLostWorker(Draft& draft) {
  Begin(draft, "core-in-compute");
  AndThen(draft, "host-dies");
}

void ChipAndHalt(Draft& draft) {
  Begin(draft, "core-in-compute");
  AndThen(draft, "halt-kernel-error");
}

void KilledAndStarved(Draft& draft) {
  Begin(draft, "process-killed");
  AndThen(draft, "loader-starves");
}

void KilledAndStopped(Draft& draft) {
  Begin(draft, "process-killed-for-memory");
  AndThen(draft, "process-stopped");
}

void CutAndStopped(Draft& draft) {
  Begin(draft, "pair-cut");
  AndThen(draft, "process-stopped");
}

// A process crashed and its launcher began it again, as far as other processes of the job were
// ended and began again with it; another worker does not come through the recovery.
void FaultInRecovery(Draft& draft) {
  Begin(draft, "process-restarted");
  AndThen(draft, draft.random.Chance(0.5) ? "process-stopped" : "host-dies");
  Plan& plan = draft.plan;
  const int crashed = plan.faults[0].worker;
  const int hindered = plan.faults[1].worker;
  plan.faults[1].delay = plan.faults[0].delay + draft.random.Uniform(1, 0.5 * plan.threshold);
  const double ended = plan.faults[0].delay;
  const double share = draft.random.Uniform(0, 1);
  for (int worker = 0; worker < plan.shape.workers(); ++worker) {
    if (worker == crashed || worker == hindered || !draft.random.Chance(share)) {
      continue;
    }
    Fault& follows = draft.Break(Happening::kProcessRestarts, worker);
    follows.delay = ended + draft.random.Uniform(1, 9);
    follows.signal = 6;
    follows.log = LogKind::kFollowOn;
    follows.words = "Terminating process because the JAX distributed service detected fatal errors";
  }
}

}  // namespace

std::vector<Kind> SeveralKinds() {
  const ShapeNeeds three{.workers = 3};
  return {
      {"two-chips-apart", {.shape = {.slices = 2}}, TwoChipsApart},
      {"chip-and-lost-worker", {.shape = three}, ChipAndLostWorker},
      {"chip-and-halt", {.shape = three}, ChipAndHalt},
      {"killed-and-starved", {.shape = three}, KilledAndStarved},
      {"killed-and-stopped", {.shape = three}, KilledAndStopped},
      {"cut-and-stopped", {.shape = {.slices = 2, .workers = 3}}, CutAndStopped},
      {"fault-in-recovery", {.shape = three}, FaultInRecovery},
  };
}

}  // namespace rapideye::world
