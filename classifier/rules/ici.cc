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
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "ici";

struct IciFault {
  std::string text;
  Strength strength = Strength::kStrong;
};

// The faults by the worker and chip at a link's ends.
using IciFaults = std::map<std::pair<int, std::optional<int32_t>>, IciFault>;

IciFaults ByWord(const Case& c) {
  IciFaults faults;
  for (int i = 0; i < c.timeline.first_count; ++i) {
    const ErrorEvent& event =
        c.timeline.errors[static_cast<size_t>(c.timeline.roots[static_cast<size_t>(i)])];
    if (event.kind != ErrorKind::kNetworkHalt) continue;
    faults.try_emplace(
        {event.worker, event.chip},
        IciFault{absl::StrCat(Who(c.worker(event.worker)), ": ", event.text), Strength::kDirect});
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
      faults.try_emplace(
          {i, link.chip},
          IciFault{
              absl::StrCat(Who(c.worker(i)), " reports ICI link ", Quote(link.link), " of chip ",
                           link.chip, " with health ", link.health, " (0 good, 10 unusable)"),
              Strength::kStrong});
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
    Culprit culprit = CulpritWorker(c, where.first, fault.text);
    culprit.chip = where.second;
    finding.culprits.push_back(std::move(culprit));
    finding.evidence.push_back(Evidence(c, fault.strength, {where.first}, fault.text));
    workers.insert(where.first);
  }
  if (workers.size() == 2) {
    BrokenLink link;
    link.from = c.worker(*workers.begin()).id;
    link.to = c.worker(*workers.rbegin()).id;
    link.why = "both ends report the ICI fault";
    finding.links.push_back(std::move(link));
  }
  finding.explains = c.graph.waiting;
  finding.why = faults.begin()->second.text;
  out.Add(kRule, std::move(finding));
}

}  // namespace rapideye::classifier
