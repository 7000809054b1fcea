#include "classifier/wait/chain_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

// "slices 0-2, 5" of ascending indexes.
std::string SliceNames(const Topology& topology, const std::vector<int>& slices) {
  constexpr size_t kRuns = 6;
  std::string text = slices.size() == 1 ? "slice " : "slices ";
  size_t runs = 0;
  for (size_t i = 0; i < slices.size(); ++runs) {
    if (runs == kRuns) return absl::StrCat(text, " and ", slices.size() - i, " more");
    size_t last = i;
    while (last + 1 < slices.size() && slices[last + 1] == slices[last] + 1) ++last;
    const auto id = [&](size_t n) { return topology.slices()[static_cast<size_t>(slices[n])].id; };
    absl::StrAppend(&text, runs == 0 ? "" : ", ", id(i));
    if (last > i) absl::StrAppend(&text, "-", id(last));
    i = last + 1;
  }
  return text;
}

// Slices in the same state, with their largest clusters at one place.
struct Group {
  std::vector<int> slices;
  int cluster = 0;
  int running = 0;
  int idle = 0;
};
using GroupKey = std::pair<SliceState, int>;  // and the place of its cluster

std::string_view WaitsFor(SliceState state) {
  switch (state) {
    case SliceState::kHeaded:
      return "for the head named below";
    case SliceState::kWaitsInside:
      return "for a core of their own slice, and none of those stands out";
    case SliceState::kWaitsOutside:
      return "for another slice";
    case SliceState::kUnclear:
      return "for what cannot be told: no HLO names the instruction";
    case SliceState::kIdle:
    case SliceState::kEmpty:
      break;
  }
  return "";
}

std::string GroupText(const Topology& topology, const Positions& positions, const GroupKey& key,
                      const Group& group) {
  const auto& [state, place] = key;
  const std::string who = SliceNames(topology, group.slices);
  if (state == SliceState::kEmpty) return absl::StrCat(who, ": nothing is known of any core");
  if (group.running == 0) {
    return absl::StrCat(who, ": all ", Count(group.idle, "core"),
                        " idle, nothing runs and nothing is queued");
  }
  std::string text = absl::StrCat(
      who, ": ", group.cluster, " of ", Count(group.running + group.idle, "core"), " at ",
      PlaceName(topology, positions.place(place)), " wait ", std::string(WaitsFor(state)));
  if (group.running > group.cluster) {
    const int elsewhere = group.running - group.cluster;
    absl::StrAppend(&text, "; ", elsewhere, elsewhere == 1 ? " stands" : " stand", " elsewhere");
  }
  if (group.idle > 0) absl::StrAppend(&text, "; ", group.idle, " idle");
  return text;
}

std::string WhyHead(const Head& head) {
  switch (head.kind) {
    case HeadKind::kCompute:
      return "the instruction computes, and waits for nobody";
    case HeadKind::kLaggard:
      return "it is still in an earlier launch than the rest of its slice";
    case HeadKind::kElsewhere:
      return "it is in the launch of its slice, but not where all the others wait";
    case HeadKind::kSparse:
      return "its SparseCore stands where those of its peers do not, and its TensorCore waits "
             "for it";
    case HeadKind::kInput:
      return "it was launched, and waits for its own host";
    case HeadKind::kIdle:
      return "nothing runs or is queued there, while others stand in a launch that it never got";
    case HeadKind::kCrossWait:
      return "it waits for another slice, while the rest of its slice waits for it";
  }
  return "";
}

std::string HeadText(const Topology& topology, const Positions& positions, const Head& head) {
  std::string text = HeadName(topology, positions, head);
  if (head.place >= 0) {
    absl::StrAppend(&text, " at ", PlaceName(topology, positions.place(head.place)));
  }
  const bool kernel = head.kind == HeadKind::kCompute && head.place >= 0 &&
                      positions.place(head.place).hlo_class == HloClass::kKernel;
  absl::StrAppend(&text, ": ",
                  kernel ? "it is alone in a kernel, and so waits for nobody" : WhyHead(head));
  if (head.behind && head.kind != HeadKind::kLaggard) {
    absl::StrAppend(&text, "; its slice is in a later launch");
  }
  if (head.whole_host) absl::StrAppend(&text, "; with all cores of the host, so it is the host's");
  if (head.hlo_waits) absl::StrAppend(&text, "; the instruction can itself be a wait");
  if (head.moving) absl::StrAppend(&text, "; its pc moves, but no launch completes");
  if (head.ambiguous) {
    absl::StrAppend(&text, "; or its peer in another slice, one waits for the other");
  }
  if (head.or_mate) {
    absl::StrAppend(&text, "; another of its slice stands alone, too: one may wait for the other");
  }
  return text;
}

}  // namespace

std::string HeadName(const Topology& topology, const Positions& positions, const Head& head) {
  const std::string worker = Who(topology.worker(head.worker));
  if (head.sparse >= 0) {
    const SparseUnit& sparse = positions.sparse()[static_cast<size_t>(head.sparse)];
    return absl::StrCat(CoreName(*sparse.core), " of ", worker);
  }
  if (head.units.size() != 1 || head.whole_host) {
    return absl::StrCat(Count(static_cast<int64_t>(head.units.size()), "core"), " of ", worker);
  }
  return absl::StrCat(CoreName(*positions.unit(head.units.front()).core), " of ", worker);
}

std::vector<Reason> TellChain(const Topology& topology, const Positions& positions,
                              const Divergence& divergence, const WaitGraph& graph) {
  std::map<GroupKey, Group> groups;
  for (size_t s = 0; s < graph.slices.size(); ++s) {
    const SliceView& view = graph.slices[s];
    Group& group = groups[{view.state, view.crowd_place}];
    group.slices.push_back(static_cast<int>(s));
    group.cluster += view.cluster;
    group.running += view.running;
    group.idle += view.idle;
  }
  std::vector<std::pair<const GroupKey*, const Group*>> largest;
  for (const auto& [key, group] : groups) largest.emplace_back(&key, &group);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) {
    return a.second->running + a.second->idle > b.second->running + b.second->idle;
  });
  std::vector<Reason> reasons;
  const auto add = [&](ReasonKind kind, std::string text) {
    reasons.push_back({"wait_graph", std::move(text), kind});
  };
  add(ReasonKind::kWaits,
      absl::StrCat(graph.waiting, " of ", Count(graph.units, "core"), " wait; ",
                   Count(static_cast<int64_t>(graph.heads.size()), "head"), " of the chain"));
  const auto foreign = std::count(divergence.is_foreign.begin(), divergence.is_foreign.end(), true);
  if (foreign > 0) {
    add(ReasonKind::kWaits,
        absl::StrCat(Count(foreign, "worker"), " left out: what they run can never meet what the ",
                     "rest of their cohort runs"));
  }
  for (size_t i = 0; i < largest.size() && i < kMaxChainLines; ++i) {
    add(ReasonKind::kWaits, GroupText(topology, positions, *largest[i].first, *largest[i].second));
  }
  if (largest.size() > kMaxChainLines) {
    add(ReasonKind::kWaits, absl::StrCat(largest.size() - kMaxChainLines,
                                         " more groups of slices, each smaller than these"));
  }
  for (size_t i = 0; i < graph.heads.size() && i < kMaxChainLines; ++i) {
    add(ReasonKind::kHead, HeadText(topology, positions, graph.heads[i]));
  }
  if (graph.heads.size() > kMaxChainLines) {
    add(ReasonKind::kHead, absl::StrCat(graph.heads.size() - kMaxChainLines, " more heads"));
  }
  if (graph.heads.empty()) {
    add(ReasonKind::kHead, "no core and no host that anything shows stands out");
  }
  return reasons;
}

}  // namespace rapideye::classifier
