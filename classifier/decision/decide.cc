#include "classifier/decision/decide.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "classifier/decision/actions.h"
#include "classifier/decision/calibration.h"
#include "classifier/decision/chain_builder.h"
#include "classifier/decision/considered.h"
#include "classifier/decision/lacking.h"
#include "classifier/decision/removal.h"
#include "classifier/decision/weighing.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

constexpr double kLessSure = 0.01;  // than the cause that may have led to it

auto CulpritRank(const Culprit& culprit) {
  return std::tuple(culprit.worker, culprit.chip, culprit.core_index);
}

std::set<WorkerId> WorkersOf(const Finding& finding) {
  std::set<WorkerId> workers;
  for (const Culprit& culprit : finding.culprits) workers.insert(culprit.worker);
  return workers;
}

// Decide checks a finding against all failed workers together, not against one failure alone.
struct Failed {
  std::set<WorkerId> workers;  // failed outright or missing, by findings that may be a cause
  // Also workers whose processes ended no later than the job stood still, for whatever reason. A
  // process that ends because of a hang breaks its connections only afterwards.
  std::set<WorkerId> ended;
};

Failed FailedOf(const Case& c, const std::vector<Finding>& findings) {
  Failed failed;
  for (const Finding& finding : findings) {
    if (finding.basis != Basis::kError && finding.basis != Basis::kAbsence) continue;
    if (finding.confidence >= kLeastConfidence) failed.workers.merge(WorkersOf(finding));
  }
  failed.ended = failed.workers;
  const std::optional<int64_t>& still_ms = c.timeline.still_ms;
  for (const ErrorEvent& event : c.timeline.errors) {
    const bool before = event.age_ms && still_ms && *event.age_ms + kAgeErrorMs >= *still_ms;
    if (event.kind == ErrorKind::kExit && before) failed.ended.insert(c.worker(event.worker).id);
  }
  return failed;
}

// A worker that failed outright, or is missing, also makes its cores stand elsewhere and its
// connections break. Where several workers failed, each failure may explain a part.
std::optional<WhyNot> ExplainsByFailure(const Finding& by, const Finding& finding,
                                        const Failed& all_failed) {
  const std::set<WorkerId> failed = WorkersOf(by);
  // A worker that has not come makes the others' start-up time out, and their processes end.
  if (by.detail == Detail::kNotStarted && by.confidence >= kLeastConfidence) {
    const bool same =
        std::all_of(finding.culprits.begin(), finding.culprits.end(),
                    [&](const Culprit& culprit) { return failed.contains(culprit.worker); });
    if (same || finding.detail == Detail::kProcessExit) return WhyNot::kNotStarted;
  }
  if (by.basis != Basis::kError && by.basis != Basis::kAbsence) return std::nullopt;
  if (by.confidence < kLeastConfidence) return std::nullopt;
  bool all = false;
  if (finding.basis == Basis::kLink && finding.detail != Detail::kIciLink) {
    all = !finding.links.empty() &&
          std::all_of(finding.links.begin(), finding.links.end(), [&](const BrokenLink& link) {
            return all_failed.ended.contains(link.from) || all_failed.ended.contains(link.to);
          });
  } else if (finding.basis == Basis::kPosition || finding.basis == Basis::kDivergence) {
    // The other workers went on to another program without the failed worker.
    const auto is_in = [](const std::set<WorkerId>& workers) {
      return [&workers](const Culprit& culprit) { return workers.contains(culprit.worker); };
    };
    all =
        std::all_of(finding.culprits.begin(), finding.culprits.end(), is_in(all_failed.workers)) &&
        std::any_of(finding.culprits.begin(), finding.culprits.end(), is_in(failed));
  }
  return all ? std::optional(WhyNot::kFailure) : std::nullopt;
}

// A missing worker is the first candidate that the cores of its slice wait for. A core there
// that stands apart by its place alone shares a collective with the missing worker. Whatever
// program the core is in, it cannot leave that program without a mate that is surely gone.
bool ExplainsByAbsence(const Finding& by, const Finding& finding) {
  if (by.detail != Detail::kWorkerLost || by.basis != Basis::kAbsence) return false;
  const bool by_place =
      finding.basis == Basis::kPosition && finding.confidence < kConfidenceComputeHead;
  const bool by_program = finding.detail == Detail::kModuleDivergence &&
                          finding.basis == Basis::kDivergence &&
                          by.confidence >= kConfidenceLostClosed;
  if (!by_place && !by_program) return false;
  return std::all_of(finding.culprits.begin(), finding.culprits.end(), [&](const Culprit& one) {
    return std::any_of(by.culprits.begin(), by.culprits.end(), [&](const Culprit& missing) {
      return missing.worker.slice == one.worker.slice;
    });
  });
}

// A broken connection explains why a whole host stands elsewhere, unless the instruction there is
// known; and hosts that rest on purpose explain why other hosts idle.
// A single core that stands apart by its place alone, on a host with a broken connection, may
// stand at the transfer over that connection.
bool ExplainsByLink(const Finding& by, const Finding& finding) {
  if (by.basis != Basis::kLink || by.confidence < kConfidenceLinkOneEnd ||
      finding.basis != Basis::kPosition) {
    return false;
  }
  if (finding.confidence <= kExplainedByLink) return true;
  return finding.confidence <= kConfidenceFewElsewhere && !finding.culprits.empty() &&
         std::all_of(finding.culprits.begin(), finding.culprits.end(), [&](const Culprit& culprit) {
           return std::any_of(by.links.begin(), by.links.end(), [&](const BrokenLink& link) {
             return link.from == culprit.worker || link.to == culprit.worker;
           });
         });
}

// A worker that queues nothing holds the mates of its slice in the launch that they have begun:
// the mates cannot end that launch alone, nor reach the launch in which the other slices stand.
bool MayFollowIdleMate(const Finding& finding, const Finding& by) {
  if (by.cause != Cause::kDataInputStall || by.basis != Basis::kPosition ||
      by.confidence < kConfidenceNotQueued || finding.detail != Detail::kModuleDivergence) {
    return false;
  }
  const std::set<WorkerId> idle = WorkersOf(by);
  return !finding.culprits.empty() &&
         std::all_of(finding.culprits.begin(), finding.culprits.end(), [&](const Culprit& one) {
           const auto mate = idle.lower_bound({one.worker.slice, 0});
           return mate != idle.end() && mate->slice == one.worker.slice &&
                  !idle.contains(one.worker);
         });
}

bool ExplainsByPause(const Finding& by, const Finding& finding) {
  return by.basis == Basis::kPause && finding.cause == Cause::kDataInputStall &&
         finding.detail == Detail::kProgramNotQueued;
}

// How one finding makes the other a consequence; absent: the first does not explain the second.
std::optional<WhyNot> Explains(const Finding& by, const Finding& finding, const Failed& failed) {
  if (const std::optional<WhyNot> why = ExplainsByFailure(by, finding, failed)) return why;
  if (ExplainsByLink(by, finding)) return WhyNot::kBrokenLink;
  if (ExplainsByAbsence(by, finding)) return WhyNot::kAbsence;
  return std::nullopt;
}

// The confidences put direct errors before positions, and positions before broken links for
// which no core is seen to wait. The further keys only make the order deterministic.
bool Surer(const Finding& a, const Finding& b) {
  if (a.confidence != b.confidence) return a.confidence > b.confidence;
  if (a.explains != b.explains) return a.explains > b.explains;
  if (std::tuple(a.cause, a.detail, a.basis) != std::tuple(b.cause, b.detail, b.basis)) {
    return std::tuple(a.cause, a.detail, a.basis) < std::tuple(b.cause, b.detail, b.basis);
  }
  const auto before = [](const Culprit& one, const Culprit& other) {
    return CulpritRank(one) < CulpritRank(other);
  };
  return std::lexicographical_compare(a.culprits.begin(), a.culprits.end(), b.culprits.begin(),
                                      b.culprits.end(), before);
}

// True if somebody asks about a job in which the mates of every missing worker move at this moment:
// within a slice they stand at the next collective without it. Then the worker's agent is missing,
// and probes of its host are dropped on their way.
bool GoesOnWithout(const Case& c, const Finding& missing) {
  if (c.capture.header.trigger != "operator") return false;
  return std::all_of(missing.culprits.begin(), missing.culprits.end(), [&c](const Culprit& one) {
    int mates = 0;
    int moving = 0;
    for (const Unit& unit : c.positions.units()) {
      if (c.worker(unit.worker).id.slice != one.worker.slice) continue;
      ++mates;
      moving += std::min(unit.frozen_ms.value_or(kJustEnteredMs),
                         unit.stuck_ms.value_or(kJustEnteredMs)) < kJustEnteredMs
                    ? 1
                    : 0;
    }
    return moving > kAdvancingShare * mates;
  });
}

class Decider {
 public:
  Decider(const Case& c, Findings findings) : c_(c), findings_(std::move(findings)) {}

  Verdict Decide();

 private:
  void Tell(const Weighing& weighing) {
    verdict_.reasons.push_back({"decide", WeighingText(weighing), KindOf(weighing.step)});
  }

  static void Append(std::vector<Reason>& to, std::vector<Reason> from);
  void AddLost(const Finding& finding, WhyNot why, const Finding* by = nullptr);

  // Lists the surest findings first, and causes without any finding after all findings.
  void TellConsidered();

  // A job that advances does not hang, so no other finding can be the cause of a hang.
  bool TakeProgress();

  // A divergence within one slice is only as sure as it is that no head holds that slice up.
  void DoubtMates();
  void DropExplained();

  // Several findings of one kind and one certainty are one cause in several places.
  void Merge();
  void Take(const Finding& finding);

  // The finding accuses other workers, by evidence that the cause cannot have brought about.
  bool IsBeside(const Finding& finding, const std::set<WorkerId>& named) const;
  void AddAlternatives();
  Verdict Finish();

  const Case& c_;
  Findings findings_;
  Verdict verdict_;
  std::vector<RemovalTarget> removable_;
  std::string removal_reason_;
  std::vector<Considered> lost_;  // findings, in the order in which they lost
};

Verdict Decider::Decide() {
  verdict_.reasons = c_.graph.reasons;
  Append(verdict_.reasons, std::move(findings_.reasons));
  for (const WorkerInfo& worker : c_.topology.workers()) {
    if (worker.snapshot == nullptr) verdict_.missing.push_back(worker.id);
  }
  if (TakeProgress()) return Finish();
  DoubtMates();
  DropExplained();
  Merge();
  std::stable_sort(findings_.items.begin(), findings_.items.end(), Surer);
  auto& items = findings_.items;
  const bool sure = !items.empty() && items.front().confidence >= kLeastConfidence;
  if (sure) {
    Take(items.front());
    items.erase(items.begin());
  } else {
    verdict_.cause = Cause::kUnknown;
    verdict_.lacking = WhatToCollect(c_);
    Tell(items.empty() ? Weighing{Step::kNothingFound}
                       : Weighing{Step::kTooUncertain, &items.front()});
  }
  for (const Finding& finding : items) {
    AddLost(finding, sure ? WhyNot::kLessCertain : WhyNot::kTooUncertain);
  }
  AddAlternatives();
  return Finish();
}

void Decider::Append(std::vector<Reason>& to, std::vector<Reason> from) {
  for (Reason& reason : from) {
    if (to.size() >= kMaxReasons) return;
    to.push_back(std::move(reason));
  }
}

void Decider::AddLost(const Finding& finding, WhyNot why, const Finding* by) {
  Considered& lost = lost_.emplace_back(Lost(finding, why));
  if (by != nullptr) {
    lost.by = by->cause;
    lost.by_detail = by->detail;
  } else if (why == WhyNot::kLessCertain) {
    lost.by = verdict_.cause;
    lost.by_detail = verdict_.detail;
  }
}

void Decider::TellConsidered() {
  std::vector<Cause> found = {verdict_.cause};
  for (const Considered& lost : lost_) found.push_back(lost.cause);
  std::stable_sort(lost_.begin(), lost_.end(), [](const Considered& a, const Considered& b) {
    return a.certainty > b.certainty;
  });
  std::vector<Considered> in_vain = NothingFound(c_, found);
  if (lost_.size() > kMaxConsidered - in_vain.size()) {
    lost_.resize(kMaxConsidered - in_vain.size());
  }
  verdict_.considered = std::move(lost_);
  std::move(in_vain.begin(), in_vain.end(), std::back_inserter(verdict_.considered));
}

bool Decider::TakeProgress() {
  auto& items = findings_.items;
  auto pause = std::find_if(items.begin(), items.end(),
                            [](const Finding& finding) { return finding.basis == Basis::kPause; });
  if (pause == items.end()) return false;
  const Finding progress = *pause;
  items.erase(pause);
  std::erase_if(items, [&](const Finding& finding) {
    if (!ExplainsByPause(progress, finding)) return false;
    AddLost(finding, WhyNot::kPause);
    Tell({Step::kRestsOnPurpose, &finding});
    return true;
  });
  const bool advancing = progress.confidence >= kConfidenceAdvancing;
  // A worker that is gone completes no launch any more, however recent the others' launches are.
  const bool somebody_is_gone =
      progress.detail != Detail::kEnded &&
      std::any_of(items.begin(), items.end(), [this](const Finding& finding) {
        return finding.basis == Basis::kAbsence && finding.detail == Detail::kWorkerLost &&
               finding.confidence >= kConfidenceLostClosed && !GoesOnWithout(c_, finding);
      });
  const bool contradicted =
      somebody_is_gone ||
      (!advancing && std::any_of(items.begin(), items.end(), [&](const Finding& finding) {
        return finding.basis != Basis::kPause && finding.confidence >= progress.confidence;
      }));
  if (contradicted) {
    Tell({Step::kContradicted, &progress});
    AddLost(progress, WhyNot::kContradiction);
    return false;
  }
  Take(progress);
  for (const Finding& finding : items) AddLost(finding, WhyNot::kProgress);
  return true;
}

void Decider::DoubtMates() {
  for (Finding& finding : findings_.items) {
    for (const Finding& by : findings_.items) {
      if (!MayFollowIdleMate(finding, by)) continue;
      finding.confidence = std::min(finding.confidence, by.confidence - kLessSure);
      Tell({Step::kMayBeHeldUp, &finding, &by});
    }
  }
}

void Decider::DropExplained() {
  auto& items = findings_.items;
  const Failed failed = FailedOf(c_, items);
  std::vector<bool> drop(items.size(), false);
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = 0; j < items.size(); ++j) {
      if (i == j || drop[j]) continue;
      const std::optional<WhyNot> why = Explains(items[i], items[j], failed);
      if (!why) continue;
      drop[j] = true;
      AddLost(items[j], *why, &items[i]);
      Tell({Step::kExplained, &items[j], &items[i]});
    }
  }
  std::vector<Finding> kept;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!drop[i]) kept.push_back(std::move(items[i]));
  }
  items = std::move(kept);
}

// Of three groups of workers two findings hold the largest: it is told once.
void AppendCulprits(Finding& from, Finding& to) {
  for (Culprit& culprit : from.culprits) {
    const auto rank = CulpritRank(culprit);
    const auto names_it = [&](const Culprit& other) { return CulpritRank(other) == rank; };
    const bool known = from.basis == Basis::kDivergence &&
                       std::any_of(to.culprits.begin(), to.culprits.end(), names_it);
    if (!known) to.culprits.push_back(std::move(culprit));
  }
}

void AppendEvidence(Finding& from, Finding& to) {
  for (EvidenceItem& item : from.evidence) {
    const auto says_it = [&](const EvidenceItem& other) {
      return other.statement == item.statement && other.workers == item.workers;
    };
    const bool known = from.basis == Basis::kDivergence &&
                       std::any_of(to.evidence.begin(), to.evidence.end(), says_it);
    if (!known) to.evidence.push_back(std::move(item));
  }
}

// Both findings tell of one side that is as most are. Its program is known by its fingerprint.
void AppendSides(Finding& from, Finding& to) {
  for (ProgramSide& side : from.sides) {
    if (to.sides.size() >= kMostProgramSides) return;
    const bool known = std::any_of(to.sides.begin(), to.sides.end(), [&](const ProgramSide& other) {
      return other.fingerprint == side.fingerprint;
    });
    if (!known) to.sides.push_back(std::move(side));
  }
}

void Decider::Merge() {
  std::vector<Finding> merged;
  for (Finding& finding : findings_.items) {
    auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& other) {
      return other.cause == finding.cause && other.detail == finding.detail &&
             other.basis == finding.basis && other.confidence == finding.confidence;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(finding));
      continue;
    }
    AppendCulprits(finding, *same);
    for (BrokenLink& link : finding.links) same->links.push_back(std::move(link));
    AppendEvidence(finding, *same);
    AppendSides(finding, *same);
    const bool first = same->removable.empty() && !finding.removable.empty();
    std::move(finding.removable.begin(), finding.removable.end(),
              std::back_inserter(same->removable));
    if (first || same->removal_reason.empty()) same->removal_reason = finding.removal_reason;
  }
  for (Finding& finding : merged) {
    auto& culprits = finding.culprits;
    if (finding.basis != Basis::kDivergence || culprits.size() <= kDivergedCulprits) continue;
    std::stable_sort(culprits.begin(), culprits.end(), [](const Culprit& a, const Culprit& b) {
      return CulpritRank(a) < CulpritRank(b);
    });
    culprits.resize(kDivergedCulprits);
  }
  findings_.items = std::move(merged);
}

void Decider::Take(const Finding& finding) {
  verdict_.cause = finding.cause;
  verdict_.detail = finding.detail;
  if (finding.cause != Cause::kNoHang) verdict_.confidence = StatedConfidence(finding.confidence);
  verdict_.culprits = finding.culprits;
  std::stable_sort(
      verdict_.culprits.begin(), verdict_.culprits.end(),
      [](const Culprit& a, const Culprit& b) { return CulpritRank(a) < CulpritRank(b); });
  verdict_.links = finding.links;
  verdict_.partition = finding.partition;
  verdict_.evidence = finding.evidence;
  std::stable_sort(
      verdict_.evidence.begin(), verdict_.evidence.end(),
      [](const EvidenceItem& a, const EvidenceItem& b) { return a.strength < b.strength; });
  if (verdict_.evidence.size() > kMaxEvidence) verdict_.evidence.resize(kMaxEvidence);
  removable_ = finding.removable;
  removal_reason_ = finding.removal_reason;
  verdict_.sides = finding.sides;
  verdict_.excused_ms = finding.excused_ms;
  // The certainty before calibration would read as if the verdict were overstated.
  Tell({Step::kSurest, &finding, nullptr, verdict_.confidence});
}

bool Decider::IsBeside(const Finding& finding, const std::set<WorkerId>& named) const {
  if (verdict_.cause == Cause::kUnknown || !finding.own) return false;
  return std::none_of(finding.culprits.begin(), finding.culprits.end(),
                      [&](const Culprit& one) { return named.contains(one.worker); });
}

void Decider::AddAlternatives() {
  std::set<WorkerId> named;
  for (const Culprit& culprit : verdict_.culprits) named.insert(culprit.worker);
  // Independent faults come first; the other findings stay in the order of their certainty.
  std::stable_partition(findings_.items.begin(), findings_.items.end(),
                        [&](const Finding& finding) { return IsBeside(finding, named); });
  for (const Finding& finding : findings_.items) {
    if (verdict_.alternatives.size() >= kMaxAlternatives) return;
    Alternative& alternative = verdict_.alternatives.emplace_back();
    alternative.independent = IsBeside(finding, named);
    Tell({alternative.independent ? Step::kAnotherFault : Step::kAnotherReading, &finding});
    alternative.cause = finding.cause;
    alternative.detail = finding.detail;
    const double stated = StatedConfidence(finding.confidence);
    alternative.confidence = std::min(stated, verdict_.confidence.value_or(stated));
    alternative.culprits = finding.culprits;
    alternative.why = finding.why;
  }
}

Verdict Decider::Finish() {
  verdict_.removal = JudgeRemoval(verdict_, std::move(removable_), removal_reason_);
  verdict_.actions = NextSteps(verdict_);
  verdict_.chain = BuildChain(c_, verdict_);
  TellConsidered();
  return std::move(verdict_);
}

}  // namespace

Verdict Decide(const Case& c, Findings findings) {
  return Decider(c, std::move(findings)).Decide();
}

}  // namespace rapideye::classifier
