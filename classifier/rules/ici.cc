// The links between the chips of a slice (ICI) are at fault if a core halted with
// "observed errors are: [Network]", or if an exporter reports a link as unhealthy
// in a slice whose cores wait for each other.
//
// Facts: the log line "observed errors are: [Network]"; the link health of libtpu's metrics
// (0 good, 10 unusable).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// The faults by the worker and chip at a link's ends.
using IciFaults = std::map<std::pair<int, std::optional<int32_t>>, Fact>;

IciFaults ByWord(const Case& c) {
  IciFaults faults;
  for (int i = 0; i < c.timeline.first_count; ++i) {
    const ErrorEvent& event =
        c.timeline.errors[static_cast<size_t>(c.timeline.roots[static_cast<size_t>(i)])];
    if (event.kind != ErrorKind::kNetworkHalt) continue;
    faults.try_emplace({event.worker, event.chip}, Words{event.worker, event.text});
  }
  return faults;
}

// Takes the worst link only: its neighbours may show lesser marks of the same fault.
IciFaults ByHealth(const Case& c) {
  constexpr int32_t kBadHealth = 5;  // of 0 (good) to 10 (unusable)
  int32_t worst = kBadHealth;
  for (const Snapshot& snapshot : c.capture.snapshots) {
    for (const IciLink& link : snapshot.ici_links) worst = std::max(worst, link.health);
  }
  IciFaults faults;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    const SliceView& view = c.graph.slices[static_cast<size_t>(c.worker(i).slice)];
    if (view.running == 0) continue;
    for (const IciLink& link : snapshot->ici_links) {
      if (link.health < worst) continue;
      faults.try_emplace({i, link.chip}, BadIciLink{i, &link});
    }
  }
  return faults;
}

}  // namespace

void FindIci(const Case& c, Findings& out) {
  IciFaults faults = ByWord(c);
  const bool by_word = !faults.empty();
  if (!by_word) faults = ByHealth(c);
  if (faults.empty()) return;
  Finding finding;
  finding.basis = by_word ? Basis::kError : Basis::kLink;
  finding.cause = Cause::kNetworkingIssue;
  finding.detail = Detail::kIciLink;
  finding.confidence = by_word ? kConfidenceDirectError : kConfidenceIciHealth;
  std::set<int> workers;
  for (const auto& [where, fault] : faults) {
    Accuse(c, by_word ? Strength::kDirect : Strength::kStrong, fault, finding).chip = where.second;
    workers.insert(where.first);
  }
  if (workers.size() == 2) {
    BrokenLink link;
    link.from = c.worker(*workers.begin()).id;
    link.to = c.worker(*workers.rbegin()).id;
    link.why = FactText(c, BothEndsReportIci{*workers.begin(), *workers.rbegin()});
    finding.links.push_back(std::move(link));
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

}  // namespace rapideye::classifier
