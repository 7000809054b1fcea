#include "classifier/programs/divergence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "classifier/programs/odd_slice.h"
#include "classifier/programs/other_compilations.h"
#include "classifier/programs/passed_launches.h"
#include "classifier/programs/program_use.h"
#include "classifier/programs/queue_order.h"
#include "classifier/programs/split_slice.h"

namespace rapideye::classifier {
namespace {

// True if its own queue runs against its cohort's order.
bool Misordered(const Topology& topology, const Positions& positions, int worker) {
  const ProgramOrder& order =
      topology.cohorts()[static_cast<size_t>(topology.worker(worker).cohort)].order;
  if (order.empty()) return false;
  const auto [first, last] = positions.UnitsOf(worker);
  int queue = -1;
  for (int i = first; i < last; ++i) {
    const Unit& unit = positions.unit(i);
    if (unit.queue == queue) continue;
    queue = unit.queue;
    std::optional<int64_t> before;
    for (size_t slot = 0; slot <= unit.core->queued.size(); ++slot) {
      const auto at = order.Ordinal(topology.LaunchAt(worker, *unit.core, slot));
      if (!at.has_value()) continue;
      if (before.has_value() && *at <= *before) return true;
      before = at;
    }
  }
  return false;
}

// Compares, for each cohort, the programs that whole hosts of the slice are in.
void JudgeSlice(const Topology& topology, const ProgramUse& use, const OddSlices& odd,
                SplitSlices& split, int slice, std::vector<bool>& is_foreign) {
  std::map<int, SplitSlices::ByProgram> cohorts;
  const SliceInfo& info = topology.slices()[static_cast<size_t>(slice)];
  for (int i = info.first; i < info.last; ++i) {
    if (use.Running(i) >= 0) cohorts[topology.worker(i).cohort][use.Running(i)].push_back(i);
  }
  const auto mark = [&](const std::vector<int>& workers) {
    for (int worker : workers) is_foreign[static_cast<size_t>(worker)] = true;
  };
  for (const auto& [cohort, programs] : cohorts) {
    if (programs.size() > 1) {
      mark(split.Judge(slice, cohort, programs));
      continue;
    }
    const auto& [program, workers] = *programs.begin();
    if (odd.IsForeignToStep(slice, cohort, program, workers) ||
        odd.IsOddAmongSlices(slice, cohort, program)) {
      mark(workers);
    }
  }
}

std::vector<ForeignProgram> GroupForeign(const Topology& topology, const Divergence& divergence) {
  std::map<std::pair<int, int>, std::vector<int>> groups;
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    if (!divergence.is_foreign[static_cast<size_t>(i)]) continue;
    groups[{topology.worker(i).cohort, divergence.running[static_cast<size_t>(i)]}].push_back(i);
  }
  std::vector<ForeignProgram> foreign;
  for (auto& [key, members] : groups) {
    foreign.push_back({key.first, key.second, std::move(members)});
  }
  return foreign;
}

}  // namespace

Divergence FindDivergence(const Topology& topology, const Positions& positions) {
  const ProgramUse use(topology, positions);
  const OddSlices odd(topology, positions, use);
  SplitSlices split(topology, positions, use);
  Divergence found;
  const size_t workers = topology.workers().size();
  found.running = use.running();
  found.is_foreign.assign(workers, false);
  for (size_t s = 0; s < topology.slices().size(); ++s) {
    JudgeSlice(topology, use, odd, split, static_cast<int>(s), found.is_foreign);
  }
  for (int worker :
       WorkersOfOtherCompilations(topology, positions, found.running, found.is_foreign)) {
    found.is_foreign[static_cast<size_t>(worker)] = true;
  }
  ForgivePassed(topology, positions, found.is_foreign);
  found.misordered = MisorderedByQueues(topology, positions);
  found.order_proved = !found.misordered.empty();
  if (!found.order_proved) {
    found.misordered = split.Swapped();
    for (int i = 0; i < static_cast<int>(workers); ++i) {
      if (Misordered(topology, positions, i)) found.misordered.push_back(i);
    }
  }
  found.foreign = GroupForeign(topology, found);
  std::sort(found.misordered.begin(), found.misordered.end());
  found.misordered.erase(std::unique(found.misordered.begin(), found.misordered.end()),
                         found.misordered.end());
  return found;
}

}  // namespace rapideye::classifier
