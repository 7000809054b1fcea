#include "classifier/findings/dumped_sides.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rapideye::classifier {
namespace {

using Fingerprints = std::set<std::string_view>;
// Workers, by their compilations of one module.
using Groups = std::map<Fingerprints, std::vector<int>>;
using ModuleOfCohort = std::pair<int, std::string_view>;

std::map<ModuleOfCohort, Groups> Compiled(const Topology& topology) {
  std::map<ModuleOfCohort, std::map<int, Fingerprints>> by_worker;
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    const WorkerInfo& worker = topology.worker(i);
    if (worker.snapshot == nullptr) continue;
    for (const Program& program : worker.snapshot->programs) {
      if (!program.module.has_value() || program.fingerprint.empty()) continue;
      by_worker[{worker.cohort, *program.module}][i].insert(program.fingerprint);
    }
  }
  std::map<ModuleOfCohort, Groups> compiled;
  for (auto& [module, workers] : by_worker) {
    for (auto& [worker, fingerprints] : workers) {
      compiled[module][std::move(fingerprints)].push_back(worker);
    }
  }
  return compiled;
}

// A fingerprint of `one` that `other` lacks; there must be such a fingerprint.
std::string_view FirstOnlyIn(const Fingerprints& one, const Fingerprints& other) {
  return *std::find_if(one.begin(), one.end(),
                       [&other](std::string_view print) { return !other.contains(print); });
}

const Groups::value_type& Largest(const Groups& groups) {
  return *std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
}

bool HoldsAllOf(const Fingerprints& whole, const Fingerprints& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// Compares with the largest group: odd are workers with as many compilations but not the same.
std::optional<DumpedSides> Split(std::string_view module, const Groups& groups, bool halves) {
  const auto& [common, most] = Largest(groups);
  DumpedSides sides;
  sides.module = module;
  sides.rest = most;
  sides.equal = halves;
  for (const auto& [fingerprints, group] : groups) {
    if (fingerprints == common || fingerprints.size() != common.size()) continue;
    if (sides.odd.empty()) {
      sides.odd_fingerprint = FirstOnlyIn(fingerprints, common);
      sides.rest_fingerprint = FirstOnlyIn(common, fingerprints);
    }
    sides.odd.insert(sides.odd.end(), group.begin(), group.end());
  }
  if (sides.odd.empty()) return std::nullopt;
  std::sort(sides.odd.begin(), sides.odd.end());
  return sides;
}

// For two groups: the smaller group, or either of two halves, has compiled all that the other
// group has, and more.
std::optional<DumpedSides> SplitOffMore(std::string_view module, const Groups& groups) {
  if (groups.size() != 2) return std::nullopt;
  const auto& [one, ones] = *groups.begin();
  const auto& [other, others] = *std::next(groups.begin());
  const bool first = HoldsAllOf(one, other);
  if (!first && !HoldsAllOf(other, one)) return std::nullopt;
  DumpedSides sides;
  sides.module = module;
  sides.more = true;
  sides.odd = first ? ones : others;
  sides.rest = first ? others : ones;
  if (sides.odd.size() > sides.rest.size()) return std::nullopt;
  sides.odd_fingerprint = first ? FirstOnlyIn(one, other) : FirstOnlyIn(other, one);
  sides.rest_fingerprint = first ? *other.begin() : *one.begin();
  return sides;
}

// Ranks how clearly the comparison shows which workers are odd.
int Rank(const DumpedSides& sides) { return sides.more ? 0 : sides.equal ? 1 : 2; }

}  // namespace

DumpedDivergence FindDumpedSides(const Topology& topology) {
  DumpedDivergence found;
  for (const auto& [module, groups] : Compiled(topology)) {
    if (groups.size() < 2) continue;
    size_t workers = 0;
    for (const auto& [fingerprints, group] : groups) workers += group.size();
    const size_t most = Largest(groups).second.size();
    const bool halves = groups.size() == 2 && 2 * most == workers;
    if (2 * most <= workers && !halves) {
      found.scattered.push_back(module.second);
    } else if (auto sides = Split(module.second, groups, halves)) {
      found.sides.push_back(*std::move(sides));
    } else if (auto more = SplitOffMore(module.second, groups)) {
      found.sides.push_back(*std::move(more));
    }
  }
  int best = 0;
  for (const DumpedSides& sides : found.sides) best = std::max(best, Rank(sides));
  std::erase_if(found.sides, [best](const DumpedSides& sides) { return Rank(sides) < best; });
  return found;
}

}  // namespace rapideye::classifier
