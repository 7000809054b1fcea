#include "tests/world/kinds.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rapideye::world {

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *[] {
    auto* all = new std::vector<Kind>;
    for (auto part : {ChipKinds(), ProcessKinds(), NetworkKinds(), HostKinds(), ProgramKinds(),
                      SeveralKinds(), HealthyKinds()}) {
      std::move(part.begin(), part.end(), std::back_inserter(*all));
    }
    return all;
  }();
  return kinds;
}

Plan MakePlan(std::string_view kind, uint64_t seed, int noise, int times) {
  const auto& kinds = Kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == kind; });
  JobNeeds needs = found->needs;
  needs.shape.times = times;
  Draft draft = DrawDraft(kind, seed, noise, needs);
  found->befall(draft);
  std::vector<bool> all(draft.plan.faults.size(), true);
  AcceptWhatBefell(all, draft.plan.truth);
  return std::move(draft.plan);
}

}  // namespace rapideye::world
