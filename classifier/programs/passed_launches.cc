#include "classifier/programs/passed_launches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rapideye::classifier {
namespace {

using Key = std::pair<int, int32_t>;  // program, launch id

std::optional<Key> LaunchOf(const Topology& topology, const Unit& unit) {
  if (unit.state != UnitState::kRunning || !unit.core->program || !unit.core->launch_id) {
    return std::nullopt;
  }
  const WorkerInfo& info = topology.worker(unit.worker);
  const int program = info.programs[static_cast<size_t>(*unit.core->program)];
  if (program < 0) return std::nullopt;
  return Key{program, *unit.core->launch_id};
}

std::set<Key> Current(const Topology& topology, const Positions& positions, int worker) {
  std::set<Key> current;
  const auto [first, last] = positions.UnitsOf(worker);
  for (int i = first; i < last; ++i) {
    if (const auto launch = LaunchOf(topology, positions.unit(i))) current.insert(*launch);
  }
  return current;
}

std::set<Key> Left(const Topology& topology, const Positions& positions, int worker) {
  std::set<Key> left;
  for (const Launch& launch : LaunchesSeen(topology, positions, worker)) {
    left.insert({launch.program, *launch.id});
  }
  for (const Key& launch : Current(topology, positions, worker)) left.erase(launch);
  return left;
}

// Launches of the workers that are not marked, in a cohort or in one slice of it.
struct Others {
  std::set<Key> current;
  std::set<Key> left;
};

bool Contains(const std::set<Key>& all, const std::set<Key>& some) {
  return !some.empty() && std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

std::vector<Launch> LaunchesSeen(const Topology& topology, const Positions& positions, int worker) {
  const WorkerInfo& info = topology.worker(worker);
  std::vector<Launch> longest;
  const auto [begin, end] = positions.UnitsOf(worker);
  for (int i = begin; i < end; ++i) {
    std::vector<Launch> past;
    for (const Transition& seen : positions.unit(i).core->transitions) {
      if (!seen.program || !seen.launch_id) continue;
      const int program = info.programs[static_cast<size_t>(*seen.program)];
      const bool again =
          !past.empty() && past.back().program == program && past.back().id == seen.launch_id;
      if (program >= 0 && !again) past.push_back({program, seen.launch_id});
    }
    if (past.size() > longest.size()) longest = std::move(past);
  }
  return longest;
}

bool HasPassed(const Topology& topology, const Positions& positions, int worker, int other) {
  return Contains(Left(topology, positions, worker), Current(topology, positions, other));
}

bool OtherSlicesHaveReached(const Topology& topology, const Positions& positions, int worker) {
  const auto launch_of = [&](int one) -> std::optional<Launch> {
    const auto [first, last] = positions.UnitsOf(one);
    if (first == last) return std::nullopt;
    const Launch launch = topology.LaunchAt(one, *positions.unit(first).core, 0);
    return launch.program < 0 ? std::nullopt : std::optional(launch);
  };
  const WorkerInfo& info = topology.worker(worker);
  const std::optional<Launch> own = launch_of(worker);
  if (!own || Current(topology, positions, worker).size() > 1) return false;
  bool any = false;
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    const WorkerInfo& one = topology.worker(i);
    if (one.cohort != info.cohort || one.slice == info.slice) continue;
    const std::optional<Launch> launch = launch_of(i);
    if (!launch) continue;
    // Old runtimes tell no launch id.
    const bool same =
        launch->program == own->program && (!launch->id || !own->id || launch->id == own->id);
    if (!same) return false;
    any = true;
  }
  return any;
}

bool ComesLater(const Topology& topology, const Positions& positions, int worker, int other) {
  const std::set<Key> later = Current(topology, positions, worker);
  const std::set<Key> earlier = Current(topology, positions, other);
  if (later.size() != 1 || earlier.size() != 1 || later == earlier) return false;
  const auto is = [](const std::set<Key>& one) {
    return [&one](const Launch& seen) { return one.contains({seen.program, *seen.id}); };
  };
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    if (topology.worker(i).cohort != topology.worker(worker).cohort) continue;
    const std::vector<Launch> seen = LaunchesSeen(topology, positions, i);
    const auto first = std::find_if(seen.begin(), seen.end(), is(earlier));
    if (std::find_if(first, seen.end(), is(later)) != seen.end()) return true;
  }
  return false;
}

void ForgivePassed(const Topology& topology, const Positions& positions,
                   std::vector<bool>& marked) {
  if (std::none_of(marked.begin(), marked.end(), [](bool mark) { return mark; })) return;
  std::map<int, Others> cohorts;
  std::map<std::pair<int, int>, Others> mates;  // by cohort and slice
  const int workers = static_cast<int>(topology.workers().size());
  for (int i = 0; i < workers; ++i) {
    if (marked[static_cast<size_t>(i)]) continue;
    const WorkerInfo& worker = topology.worker(i);
    const std::set<Key> current = Current(topology, positions, i);
    const std::set<Key> left = Left(topology, positions, i);
    for (Others* others : {&cohorts[worker.cohort], &mates[{worker.cohort, worker.slice}]}) {
      others->current.insert(current.begin(), current.end());
      others->left.insert(left.begin(), left.end());
    }
  }
  for (int i = 0; i < workers; ++i) {
    if (!marked[static_cast<size_t>(i)]) continue;
    const WorkerInfo& worker = topology.worker(i);
    // A worker at odds with its slice may still have left out the launch that this worker is in.
    const Others& own = mates[{worker.cohort, worker.slice}];
    const Others& others = own.current.empty() ? cohorts[worker.cohort] : own;
    const bool behind = Contains(others.left, Current(topology, positions, i));
    // Within a slice, such a worker may have left out the collective at which its mates stand.
    const bool ahead =
        own.current.empty() && Contains(Left(topology, positions, i), others.current);
    if (behind || ahead) marked[static_cast<size_t>(i)] = false;
  }
}

}  // namespace rapideye::classifier
