// Programs diverged if workers of one cohort run different modules, and nobody
// merely lags: the collectives of the one can never meet those of the other.
//
// MODULE_DIVERGENCE: some run a program that the others neither run, queue nor
// just ran. LAUNCH_ORDER: the same programs in another order, as the queues show,
// or as the runtime's own assertion says ("an unexpected leader shows up in the
// launch group with a different launch id").
//
// A collective whose sizes do not agree proves that programs differ, and not whose.
//
// Facts: module names, fingerprints and queues of the status service; the learnt
// sequence; the log line "an unexpected leader shows up in the launch group".
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/rules/rules.h"
#include "classifier/sides.h"
#include "classifier/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr char kRule[] = "different_module";

void ByModule(const Case& c, Findings& out) {
  for (const Sides& sides : DivergedSides(c)) {
    if (sides.same_module) continue;
    Finding finding;
    finding.basis = Basis::kDivergence;
    finding.cause = Cause::kDifferentModule;
    finding.detail = Detail::kModuleDivergence;
    finding.confidence = sides.order_known ? kConfidenceDiverged : kConfidenceDivergedOneSided;
    if (!sides.named) finding.confidence = kConfidenceModuleUnnamed;
    DescribeSides(c, sides, finding);
    finding.explains = c.graph.waiting;
    out.Add(kRule, std::move(finding));
  }
}

// Launches of one worker in the order it was given them.
std::string ChainText(const Case& c, int worker) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  if (first == last) return "";
  std::string text;
  for (const Launch& launch : c.topology.Chain(worker, *c.positions.unit(first).core)) {
    absl::StrAppend(&text, text.empty() ? "" : ", then ", ProgramName(c.topology, launch.program));
    if (text.size() > kQuoteBytes) break;
  }
  return text;
}

void AddSmallerSide(const Case& c, const std::vector<int>& odd, std::string_view what,
                    Finding& finding) {
  for (int worker : odd) {
    if (finding.culprits.size() >= kDivergedCulprits) break;
    std::string text = absl::StrCat(Who(c.worker(worker)), " ", std::string(what));
    const std::string chain = ChainText(c, worker);
    if (!chain.empty()) absl::StrAppend(&text, ": ", chain);
    finding.evidence.push_back(Evidence(c, Strength::kStrong, {worker}, text));
    finding.culprits.push_back(CulpritWorker(c, worker, std::move(text)));
  }
}

void ByQueueOrder(const Case& c, Findings& out) {
  // A learnt order is a majority's; the whole job in an order that differs from a
  // stale one is no divergence.
  std::map<int, int> workers;
  std::map<int, std::vector<int>> odd;
  for (const WorkerInfo& worker : c.topology.workers()) {
    if (worker.snapshot != nullptr) ++workers[worker.cohort];
  }
  for (int worker : c.divergence.misordered) odd[c.worker(worker).cohort].push_back(worker);
  for (const auto& [cohort, members] : odd) {
    const bool most = 2 * static_cast<int>(members.size()) > workers[cohort];
    if (most && !c.divergence.order_proved) continue;
    Finding finding;
    finding.basis = Basis::kDivergence;
    finding.cause = Cause::kDifferentModule;
    finding.detail = Detail::kLaunchOrder;
    finding.confidence = kConfidenceLaunchOrder;
    AddSmallerSide(c, members, "was given its launches in another order than its peers", finding);
    finding.explains = c.graph.waiting;
    finding.why = finding.culprits.front().why;
    out.Add(kRule, std::move(finding));
  }
}

void BySkippedLaunch(const Case& c, Findings& out) {
  if (c.graph.ahead_of_all.empty() || !c.divergence.misordered.empty()) return;
  Finding finding;
  finding.basis = Basis::kDivergence;
  finding.cause = Cause::kDifferentModule;
  finding.detail = Detail::kLaunchOrder;
  finding.confidence = kConfidenceSkippedLaunch;
  AddSmallerSide(c, c.graph.ahead_of_all, "is past a launch in which its whole slice still meets",
                 finding);
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(kRule, std::move(finding));
}

void ByAssertion(const Case& c, Findings& out) {
  Finding finding;
  std::vector<int> reporters;
  for (int i = 0; i < c.timeline.first_count; ++i) {
    const ErrorEvent& event =
        c.timeline.errors[static_cast<size_t>(c.timeline.roots[static_cast<size_t>(i)])];
    if (event.kind != ErrorKind::kLaunchGroup) continue;
    reporters.push_back(event.worker);
    finding.evidence.push_back(
        Evidence(c, Strength::kDirect, {event.worker},
                 absl::StrCat(Who(c.worker(event.worker)), " reports: ", event.text)));
  }
  if (reporters.empty()) return;
  std::sort(reporters.begin(), reporters.end());
  finding.basis = Basis::kError;
  finding.cause = Cause::kDifferentModule;
  finding.detail = Detail::kLaunchOrder;
  // Whose launches are seen to differ is to blame rather than who noticed.
  std::vector<int> odd = c.divergence.misordered;
  if (odd.empty()) odd = c.graph.ahead_of_all;
  if (odd.empty()) {
    for (const Sides& sides : DivergedSides(c)) {
      odd.insert(odd.end(), sides.odd.begin(), sides.odd.end());
    }
    std::sort(odd.begin(), odd.end());
  }
  finding.confidence = odd.empty() ? kConfidenceLaunchGroupText : kConfidenceLaunchGroupSeen;
  if (odd.empty()) {
    AddSmallerSide(c, reporters, "found an unexpected leader in its launch group", finding);
  } else {
    AddSmallerSide(c, odd, "was given other launches than its peers", finding);
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(kRule, std::move(finding));
}

// Whoever received what it did not expect says so, and may be innocent: nobody is named.
void ByWords(const Case& c, Findings& out) {
  Finding finding;
  for (int i = 0; i < c.timeline.first_count; ++i) {
    const ErrorEvent& event =
        c.timeline.errors[static_cast<size_t>(c.timeline.roots[static_cast<size_t>(i)])];
    if (event.kind != ErrorKind::kCollectiveMismatch) continue;
    if (finding.evidence.size() >= kMaxEvidence) break;
    finding.evidence.push_back(
        Evidence(c, Strength::kDirect, {event.worker},
                 absl::StrCat(Who(c.worker(event.worker)),
                              " received what its own collective does not expect: ", event.text)));
  }
  if (finding.evidence.empty()) return;
  finding.basis = Basis::kError;
  finding.cause = Cause::kDifferentModule;
  finding.confidence = kConfidenceMismatchText;
  finding.explains = c.graph.waiting;
  finding.why = finding.evidence.front().statement;
  out.Add(kRule, std::move(finding));
}

}  // namespace

void FindDifferentModule(const Case& c, Findings& out) {
  ByAssertion(c, out);
  ByWords(c, out);
  ByModule(c, out);
  ByQueueOrder(c, out);
  BySkippedLaunch(c, out);
}

}  // namespace rapideye::classifier
