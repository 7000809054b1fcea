// Ranks that stand at another collective than all others, by the numbers that PyTorch's watchdogs
// tell in logs. The ranks of a group count its collectives alike, and each collective needs them
// all. So a rank that has queued none as late as the one for which all others wait has not come to
// it; and a rank that has another operation, or another size, under the same number runs another
// program.
//
// A rank that waits at an earlier number than the others accuses nobody: the others may have been
// done with it (a broadcast's source is, as soon as it has sent).
//
// Facts: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, which is public.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

struct RankInGroup {
  int worker;
  const NumberedCollective* at;
};

using RankGroup = std::vector<RankInGroup>;

// By the name of the group. Without a name nobody tells whether two ranks are in one group.
std::map<std::string, RankGroup> GroupsOf(const Case& c) {
  std::map<std::string, RankGroup> groups;
  for (const WorkerLog& log : c.logs->workers) {
    const int worker = c.topology.Find(log.worker);
    if (worker < 0) continue;
    for (const NumberedCollective& at : log.collectives) {
      if (!at.group.empty()) groups[at.group].push_back({worker, &at});
    }
  }
  return groups;
}

// All ranks of a collective give the same number of elements, unless it gathers or scatters.
bool IsSame(const NumberedCollective& a, const NumberedCollective& b) {
  if (a.operation != b.operation) return false;
  const bool alike = a.operation == "ALLREDUCE" || a.operation == "BROADCAST" ||
                     a.operation == "REDUCE" || a.operation == "BARRIER";
  return !alike || a.elements == b.elements;
}

bool StandTogether(const NumberedCollective& a, const NumberedCollective& b) {
  const bool told =
      a.number && !a.operation.empty() && a.operation != "SEND" && a.operation != "RECV";
  return told && a.number == b.number && IsSame(a, b);
}

// The collective at which more than half of the group stand; nullptr: there is none. Linear, by
// the majority vote of Boyer and Moore: a job has ten thousand ranks.
const NumberedCollective* MostStandAt(const RankGroup& group) {
  const NumberedCollective* most = nullptr;
  int64_t votes = 0;
  for (const RankInGroup& rank : group) {
    if (votes == 0) most = rank.at;
    votes += StandTogether(*most, *rank.at) ? 1 : votes == 0 ? 0 : -1;
  }
  if (most == nullptr) return nullptr;
  const auto together = std::count_if(group.begin(), group.end(), [&](const RankInGroup& rank) {
    return StandTogether(*most, *rank.at);
  });
  return 2 * static_cast<size_t>(together) > group.size() ? most : nullptr;
}

void AccuseApart(const Case& c, const std::vector<AtOtherCollective>& apart, Cause cause,
                 Detail detail, Findings& out) {
  if (apart.empty()) return;
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = cause;
  finding.detail = detail;
  finding.confidence = kConfidenceOtherCollective;
  for (const AtOtherCollective& fact : apart) {
    if (finding.evidence.size() >= kMaxEvidence) break;
    Accuse(c, Strength::kStrong, fact, finding);
  }
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

void CompareRanks(const Case& c, const RankGroup& group, Findings& out) {
  const NumberedCollective* most =
      group.size() < kLeastLogsToCompare ? nullptr : MostStandAt(group);
  if (most == nullptr) return;
  std::vector<AtOtherCollective> behind;
  std::vector<AtOtherCollective> other;
  int64_t together = 0;
  for (const RankInGroup& rank : group) {
    const bool with_most = rank.at->number == most->number;
    if (with_most && (rank.at->operation.empty() || IsSame(*rank.at, *most))) ++together;
  }
  for (const RankInGroup& rank : group) {
    const AtOtherCollective fact{rank.worker, rank.at, most, together};
    if (rank.at->last_queued && *rank.at->last_queued < *most->number) {
      behind.push_back(fact);
    } else if (rank.at->number == most->number && !rank.at->operation.empty() &&
               !IsSame(*rank.at, *most)) {
      other.push_back(fact);
    }
  }
  AccuseApart(c, other, Cause::kDifferentModule, Detail::kNone, out);
  AccuseApart(c, behind, Cause::kDataInputStall, Detail::kProgramNotQueued, out);
}

}  // namespace

void FindCollectiveNumbers(const Case& c, Findings& out) {
  if (c.logs == nullptr) return;
  if (!c.timeline.roots.empty()) return;
  for (const auto& [name, group] : GroupsOf(c)) CompareRanks(c, group, out);
}

}  // namespace rapideye::classifier
