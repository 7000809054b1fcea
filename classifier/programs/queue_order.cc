#include "classifier/programs/queue_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "classifier/programs/passed_launches.h"

namespace rapideye::classifier {

namespace {

// The workers whose queues hold two launches in one order, and those of the other order.
struct Orders {
  std::vector<int> one;
  std::vector<int> other;
};

bool SameOfAnEarlierStep(const Launch& a, const Launch& b, const Launch& first,
                         const Launch& second) {
  return a.program == first.program && b.program == second.program &&
         SerialDistance(*first.id, *a.id) > 0 &&
         SerialDistance(*first.id, *a.id) == SerialDistance(*second.id, *b.id);
}

// Counts the workers that ran the two programs in this order in earlier steps, less those that
// ran them in reverse. If no worker saw both, a given order of the step decides.
int64_t Accustomed(const Topology& topology, const Positions& positions, int cohort,
                   const Launch& first, const Launch& second, const Orders& sides) {
  int64_t votes = 0;
  for (const std::vector<int>* side : {&sides.one, &sides.other}) {
    for (int worker : *side) {
      const std::vector<Launch> past = LaunchesSeen(topology, positions, worker);
      for (size_t a = 0; a < past.size(); ++a) {
        for (size_t b = a + 1; b < past.size(); ++b) {
          votes += SameOfAnEarlierStep(past[a], past[b], first, second) ? 1 : 0;
          votes -= SameOfAnEarlierStep(past[b], past[a], first, second) ? 1 : 0;
        }
      }
    }
  }
  const CohortInfo& info = topology.cohorts()[static_cast<size_t>(cohort)];
  const auto at_first = info.order.Ordinal(first);
  const auto at_second = info.order.Ordinal(second);
  if (votes != 0 || !info.order_was_given || !at_first || !at_second) return votes;
  return *at_first < *at_second ? 1 : -1;
}

// A cohort and the known launches of a queue: program, id.
using Queue = std::pair<int, std::vector<std::pair<int, int32_t>>>;

// Workers by their queues: nearly all have the same.
std::map<Queue, std::vector<int>> QueuesOf(const Topology& topology, const Positions& positions) {
  std::map<Queue, std::vector<int>> queues;
  constexpr size_t kMostLaunches = 12;  // of a queue: hosts run a few launches ahead
  Queue queue;
  auto last = queues.end();
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    if (topology.worker(i).snapshot == nullptr || topology.worker(i).standby) continue;
    queue.first = topology.worker(i).cohort;
    queue.second.clear();
    for (const Launch& launch : positions.RunningChain(i)) {
      if (queue.second.size() == kMostLaunches) break;
      if (launch.program >= 0 && launch.id) queue.second.emplace_back(launch.program, *launch.id);
    }
    if (queue.second.size() < 2) continue;  // it orders nothing
    if (last == queues.end() || last->first != queue) last = queues.try_emplace(queue).first;
    last->second.push_back(i);
  }
  return queues;
}

// Ascending, though several queues can hold one pair of launches.
std::vector<int> Sorted(std::vector<int> workers) {
  std::sort(workers.begin(), workers.end());
  return workers;
}

class QueueComparison {
 public:
  QueueComparison(const Topology& topology, const Positions& positions)
      : topology_(topology), positions_(positions) {}

  std::vector<int> Misordered() {
    CompareQueues();
    return std::move(misordered_);
  }

 private:
  // A launch, and a second launch that some queue holds behind it.
  using Behind = std::tuple<int, int, int32_t, int, int32_t>;  // cohort, program, id, program, id

  void CompareQueues() {
    std::map<Behind, std::vector<int>> behind;
    std::map<Behind, std::vector<int>> next;
    std::map<Behind, std::vector<int>> next_but_one;
    for (const auto& [queue, workers] : QueuesOf(topology_, positions_)) {
      const auto& [cohort, chain] = queue;
      for (size_t a = 0; a < chain.size(); ++a) {
        for (size_t b = a + 1; b < chain.size(); ++b) {
          const Behind key{cohort, chain[a].first, chain[a].second, chain[b].first,
                           chain[b].second};
          const auto add = [&key, &all = workers](std::map<Behind, std::vector<int>>& to) {
            std::vector<int>& those = to[key];
            those.insert(those.end(), all.begin(), all.end());
          };
          add(behind);
          if (b == a + 1) add(next);
          if (b == a + 2) add(next_but_one);
        }
      }
    }
    std::vector<std::pair<Orders, int64_t>> contradictions;
    for (const auto& [key, workers] : behind) {
      const auto& [cohort, first, first_id, second, second_id] = key;
      const Behind reverse{cohort, second, second_id, first, first_id};
      if (!(key < reverse)) continue;
      const auto found = behind.find(reverse);
      if (found == behind.end()) continue;
      const Orders sides{Sorted(workers), Sorted(found->second)};
      contradictions.emplace_back(sides, Accustomed(topology_, positions_, cohort,
                                                    {first, first_id}, {second, second_id}, sides));
    }
    for (const auto& [key, workers] : next) {
      const auto found = next_but_one.find(key);
      if (found != next_but_one.end())
        contradictions.emplace_back(Orders{Sorted(workers), Sorted(found->second)}, 0);
    }
    JudgeContradictions(contradictions);
  }

  // The contradiction of the most workers comes first: for other launches their queues may be cut.
  void JudgeContradictions(std::vector<std::pair<Orders, int64_t>>& contradictions) {
    std::stable_sort(contradictions.begin(), contradictions.end(),
                     [](const auto& a, const auto& b) {
                       return a.first.one.size() + a.first.other.size() >
                              b.first.one.size() + b.first.other.size();
                     });
    std::set<int> judged;
    for (const auto& [sides, accustomed] : contradictions) {
      bool again = false;
      for (const std::vector<int>* side : {&sides.one, &sides.other}) {
        for (int worker : *side) again = again || judged.contains(worker);
      }
      if (again) continue;
      for (const std::vector<int>* side : {&sides.one, &sides.other}) {
        judged.insert(side->begin(), side->end());
      }
      NameOdd(sides, accustomed);
    }
  }

  // The odd side is the smaller one in the job; else the one that has fewer slices to itself; else
  // the one against the order that the workers were `accustomed` to (positive: that of `one`).
  // Without any majority both sides are named.
  void NameOdd(const Orders& sides, int64_t accustomed) {
    auto majority =
        static_cast<int64_t>(sides.one.size()) - static_cast<int64_t>(sides.other.size());
    if (majority == 0) {
      std::map<int, std::pair<bool, bool>> slices;  // which sides are in it
      for (int worker : sides.one) slices[topology_.worker(worker).slice].first = true;
      for (int worker : sides.other) slices[topology_.worker(worker).slice].second = true;
      for (const auto& [slice, in] : slices) {
        majority += (in.second ? 0 : 1) - (in.first ? 0 : 1);
      }
    }
    if (majority == 0) majority = accustomed;
    if (majority >= 0) AddMisordered(sides.other);
    if (majority <= 0) AddMisordered(sides.one);
  }

  void AddMisordered(const std::vector<int>& workers) {
    misordered_.insert(misordered_.end(), workers.begin(), workers.end());
  }

  const Topology& topology_;
  const Positions& positions_;
  std::vector<int> misordered_;
};

}  // namespace

std::vector<int> MisorderedByQueues(const Topology& topology, const Positions& positions) {
  return QueueComparison(topology, positions).Misordered();
}

}  // namespace rapideye::classifier
