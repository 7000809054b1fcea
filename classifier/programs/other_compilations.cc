#include "classifier/programs/other_compilations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace rapideye::classifier {
namespace {

using Compilations = std::map<int, std::vector<int>>;  // program -> its workers

// The program that counts as the usual one. `marked`: workers known to have diverged.
int Usual(const ProgramOrder& order, const std::vector<bool>& marked,
          const Compilations& compilations) {
  const auto rank = [&](const auto& entry) {
    const auto& [program, workers] = entry;
    const bool diverged = marked[static_cast<size_t>(workers.front())];
    return std::tuple(!diverged, workers.size(), order.Holds(program), -workers.front());
  };
  return std::max_element(compilations.begin(), compilations.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
      ->first;
}

std::set<int> SlicesOf(const Topology& topology, const std::vector<int>& workers) {
  std::set<int> slices;
  for (int worker : workers) slices.insert(topology.worker(worker).slice);
  return slices;
}

// True if no stages of a pipeline explain that slices run different programs: a slice holds
// two of them, or one slice alone differs from two others or more.
bool AreNoStages(const Topology& topology, const Compilations& compilations, int usual) {
  std::set<int> all;
  size_t sum = 0;
  for (const auto& [program, workers] : compilations) {
    const std::set<int> slices = SlicesOf(topology, workers);
    all.insert(slices.begin(), slices.end());
    sum += slices.size();
  }
  if (all.size() < sum) return true;
  const size_t usual_slices = SlicesOf(topology, compilations.at(usual)).size();
  return usual_slices >= 2 && sum == usual_slices + 1;
}

// The programs of launches of one id, by module. A program without a name may be of the only
// module that has one.
std::vector<std::set<int>> OfOneModule(const Topology& topology, const std::set<int>& programs) {
  std::map<std::string_view, std::set<int>> modules;
  for (int program : programs) {
    modules[topology.programs()[static_cast<size_t>(program)].module].insert(program);
  }
  if (modules.size() == 2 && modules.contains("")) return {programs};
  std::vector<std::set<int>> all;
  for (auto& [module, members] : modules) all.push_back(std::move(members));
  return all;
}

}  // namespace

std::vector<int> WorkersOfOtherCompilations(const Topology& topology, const Positions& positions,
                                            const std::vector<int>& running,
                                            const std::vector<bool>& marked) {
  std::map<std::pair<int, int32_t>, std::set<int>> slots;      // by cohort and launch id
  std::map<std::pair<int, int>, std::vector<int>> of_program;  // by cohort and program
  for (int i = 0; i < static_cast<int>(running.size()); ++i) {
    const int program = running[static_cast<size_t>(i)];
    if (program < 0 || topology.worker(i).standby) continue;
    const int cohort = topology.worker(i).cohort;
    of_program[{cohort, program}].push_back(i);
    const std::optional<int32_t> id = positions.RunningChain(i).front().id;
    if (id.has_value()) slots[{cohort, *id}].insert(program);
  }
  const bool cohorts_given = !topology.capture().header.cohorts.empty();
  std::set<int> odd;
  for (const auto& [slot, programs] : slots) {
    const int cohort = slot.first;
    for (const std::set<int>& same : OfOneModule(topology, programs)) {
      if (same.size() < 2) continue;
      Compilations compilations;
      for (int program : same) compilations[program] = of_program[{cohort, program}];
      const ProgramOrder& order = topology.cohorts()[static_cast<size_t>(cohort)].order;
      const int usual = Usual(order, marked, compilations);
      if (!cohorts_given && !AreNoStages(topology, compilations, usual)) continue;
      for (const auto& [program, workers] : compilations) {
        if (program != usual) odd.insert(workers.begin(), workers.end());
      }
    }
  }
  return {odd.begin(), odd.end()};
}

}  // namespace rapideye::classifier
