#include "classifier/wait/idle_heads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

bool Computes(HloClass hlo_class) {
  return hlo_class == HloClass::kCompute || hlo_class == HloClass::kKernel;
}

// True if all heads are chips that wait for their SparseCores, and several: those carry one
// collective, to which some other core has not come.
bool CarryOneCollective(const std::vector<Head>& heads) {
  size_t units = 0;
  for (const Head& head : heads) {
    if (head.kind != HeadKind::kSparse) return false;
    units += head.units.size();
  }
  return units > 1;
}

// True if all heads stand alone in a kernel, where a core may wait for others, with more launches
// queued. Hosts of a slice are given the same launches: an idle host beside them lacks these.
bool KernelsHaveMoreQueued(const HeadList& list) {
  return !list.empty() &&
         std::all_of(list.heads().begin(), list.heads().end(), [&](const Head& head) {
           return head.kind == HeadKind::kCompute && head.place >= 0 &&
                  list.positions().place(head.place).hlo_class == HloClass::kKernel &&
                  std::none_of(head.units.begin(), head.units.end(), [&](int unit) {
                    return list.positions().unit(unit).core->queued.empty();
                  });
         });
}

// True if another chip of its host is in a launch. A process gives all its chips the same
// launches, so this chip has ended that launch already.
bool RunsBeside(const HeadList& list, int unit) {
  const auto [first, last] = list.positions().UnitsOf(list.positions().unit(unit).worker);
  for (int i = first; i < last; ++i) {
    if (list.positions().unit(i).state == UnitState::kRunning) return true;
  }
  return false;
}

// The shortest time for which those that wait have completed no launch.
std::optional<int64_t> LeastStuckOfCrowd(const HeadList& list) {
  std::optional<int64_t> least;
  for (int i : list.crowd().units) {
    const std::optional<int64_t>& stuck = list.positions().unit(i).stuck_ms;
    if (stuck && (!least || *stuck < *least)) least = stuck;
  }
  return least;
}

bool OvertakenByHead(const HeadList& list, int64_t idle_at) {
  return std::any_of(list.heads().begin(), list.heads().end(),
                     [&](const Head& head) { return head.at.has_value() && *head.at < idle_at; });
}

bool HasLaggard(const HeadList& list) {
  return std::any_of(list.group().clusters.begin() + 1, list.group().clusters.end(),
                     [&](const Cluster& cluster) {
                       return list.Behind(cluster.at) && cluster.hlo_class != HloClass::kCrossWait;
                     });
}

}  // namespace

void AddIdle(HeadList& list) {
  const bool kernels = KernelsHaveMoreQueued(list);
  if (list.OnlyHeadsRun() && !kernels) return;
  const std::optional<int64_t> least = LeastStuckOfCrowd(list);
  // True if it completed a launch later than those that wait: the very launch in which they wait.
  const auto finished = [&](int unit) {
    const std::optional<int64_t>& own = list.positions().unit(unit).stuck_ms;
    return own && least && *own + kAgeErrorMs < *least;
  };
  std::vector<int> known;
  std::vector<int> unknown;
  for (int unit : list.group().idle) {
    if (RunsBeside(list, unit)) continue;
    const std::optional<int64_t> at = list.group().AtOf(unit);
    if (!at.has_value()) {
      if (!finished(unit)) unknown.push_back(unit);
    } else if (list.Behind(at) && !OvertakenByHead(list, *at)) {
      known.push_back(unit);
    } else if (list.crowd().at.has_value() && *at == *list.crowd().at + 1 && list.empty() &&
               list.crowd().hlo_class != HloClass::kCrossWait && !finished(unit)) {
      // The host was given the launch, but the core never began it: arguments are outstanding.
      known.push_back(unit);
    }
  }
  // The last launch of an idle core need not be reported. Its slice meets in every
  // launch, so if no other head holds the slice up, that core never got the launch.
  if ((list.empty() || kernels || CarryOneCollective(list.heads())) && !HasLaggard(list)) {
    if (kernels && !unknown.empty()) list.Drop([](const Head&) { return true; });
    known.insert(known.end(), unknown.begin(), unknown.end());
  }
  std::sort(known.begin(), known.end());
  list.Add(HeadKind::kIdle, known, HloClass::kUnknown);
}

void DropBehindIdle(HeadList& list) {
  std::optional<int64_t> earliest;
  for (const Head& head : list.heads()) {
    if (head.kind != HeadKind::kIdle || !head.whole_host || !head.at || !list.Behind(head.at))
      continue;
    earliest = std::min(earliest.value_or(*head.at), *head.at);
  }
  if (!earliest) return;
  list.Drop([&](const Head& head) {
    return head.kind == HeadKind::kCompute && head.at && *head.at > *earliest;
  });
}

void AddLeftAlone(HeadList& list) {
  const bool alone = list.group().clusters.size() == 1 && list.OnOneChip(list.crowd()) &&
                     !list.group().idle.empty() && list.group().entry.empty() &&
                     list.group().unclear.empty();
  if (!alone || !(IsLoose(list.crowd()) || Computes(list.crowd().hlo_class))) return;
  // Hosts that had ended this launch would have been given those that are queued behind it.
  const Unit& one = list.positions().unit(list.crowd().units.front());
  if (!Computes(list.crowd().hlo_class) && !one.core->queued.empty()) return;
  std::vector<int64_t> done;
  for (int i : list.group().idle) {
    const std::optional<int64_t> at = list.group().AtOf(i);
    if (at && list.crowd().at && *at < *list.crowd().at) return;
    if (list.positions().unit(i).stuck_ms) done.push_back(*list.positions().unit(i).stuck_ms);
  }
  const std::optional<int64_t> least = LeastStuckOfCrowd(list);
  if (2 * done.size() < list.group().idle.size() || !least) return;
  const auto middle = done.begin() + static_cast<std::ptrdiff_t>(done.size() / 2);
  std::nth_element(done.begin(), middle, done.end());
  if (*middle + kCollectionSpreadMs >= *least) return;
  list.Add(HeadKind::kElsewhere, list.crowd().units, list.crowd().hlo_class);
}

}  // namespace rapideye::classifier
