// A barrier of the coordination service that ended by its time-out accuses by its list of
// arrivals. At any barrier but that of the shutdown, the few workers that did not come are at
// fault. To the shutdown, the many come when they are done, and a worker that is missing is at
// fault; a worker that comes alone has left the others in the midst of their work, unless its step
// says that it was done: in lockstep no worker finishes long before all others.
//
// If many did not come, that proves nothing: they may wait elsewhere for the one that did. Where
// logs are all there is, up to half of the job is named: nothing else tells where they are.
// Something that failed outright explains a barrier, never the other way round.
//
// Facts: lines of the coordination service; steps of the progress pages.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/errors/coordination.h"
#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// Among fewer workers, a worker that came alone is no small minority.
constexpr size_t kLeastToComeAlone = 3;

// The furthest step of these workers; absent: not every one of them reports a step.
std::optional<int64_t> FurthestStep(const Case& c, const std::vector<int>& workers) {
  std::optional<int64_t> furthest;
  for (int worker : workers) {
    const std::optional<int64_t> step = StepOf(c, worker);
    if (!step.has_value()) return std::nullopt;
    furthest = std::max(furthest.value_or(*step), *step);
  }
  return furthest;
}

// The count decides: the service names twenty of those that did not come, however many they are.
bool AreFew(const Case& c, const FailedBarrier& barrier) {
  const auto all = static_cast<double>(c.topology.workers().size());
  return all - barrier.came <= kFewShare * all;
}

// Half of the job at most did not come, and logs are all there is: nobody tells where they are.
bool AreHalf(const Case& c, const FailedBarrier& barrier) {
  return c.logs != nullptr && barrier.all_named &&
         2 * barrier.absent.size() <= c.topology.workers().size();
}

// An error that some process raised by itself before anybody complained of others, in a log whose
// lines do not tell whose they are: nullptr if there is none. Only whoever is missing at a barrier
// afterwards can have raised it.
const ErrorOfNobody* RaisedBefore(const Case& c) {
  if (c.logs == nullptr) return nullptr;
  for (const ErrorOfNobody& error : c.logs->of_nobody) {
    if (error.is_first) return &error;
  }
  return nullptr;
}

void AccuseAll(const Case& c, const std::vector<int>& workers, MissedBarrier fact,
               double confidence, Findings& out) {
  const ErrorOfNobody* raised =
      fact.missed == Missed::kBarrier && workers.size() == 1 ? RaisedBefore(c) : nullptr;
  const bool left =
      fact.missed == Missed::kCameInStep || fact.missed == Missed::kCameAlone || raised != nullptr;
  // Where logs are all there is, a log that is not there proves nothing.
  const bool lost = !left && c.logs == nullptr &&
                    std::all_of(workers.begin(), workers.end(),
                                [&](int worker) { return c.worker(worker).snapshot == nullptr; });
  Finding finding;
  finding.basis = lost ? Basis::kAbsence : Basis::kPosition;
  finding.cause = left || lost ? Cause::kUnrecoverableError : Cause::kDataInputStall;
  finding.detail = left   ? Detail::kProcessExit
                   : lost ? Detail::kWorkerLost
                          : Detail::kProgramNotQueued;
  finding.confidence = confidence;
  for (int worker : workers) {
    fact.worker = worker;
    Accuse(c, Strength::kStrong, fact, finding);
  }
  if (raised != nullptr) {
    finding.evidence.push_back(Evidence(c, Strength::kStrong, LineOfNobody{raised->text}));
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

void Shutdown(const Case& c, const FailedBarrier& barrier, Findings& out) {
  const std::optional<int64_t> absent = FurthestStep(c, barrier.absent);
  const std::optional<int64_t> came = barrier.first ? StepOf(c, *barrier.first) : std::nullopt;
  // Of two workers in the same step, nothing tells which of them had finished.
  const bool is_tie =
      c.topology.workers().size() < kLeastToComeAlone && absent && came && *came == *absent;
  const bool is_left = barrier.came == 1 && absent && came && *came <= *absent && !is_tie;
  if (is_left) {
    AccuseAll(c, {*barrier.first}, {0, &barrier, Missed::kCameInStep, came},
              kConfidenceBarrierByStep, out);
  } else if (AreFew(c, barrier) && !(absent && came && *came <= *absent)) {
    AccuseAll(c, barrier.absent, {0, &barrier, Missed::kShutdown, {}}, kConfidenceBarrier, out);
  } else if (barrier.came == 1 && barrier.first && !(absent && came) &&
             c.topology.workers().size() >= kLeastToComeAlone) {
    AccuseAll(c, {*barrier.first}, {0, &barrier, Missed::kCameAlone, {}}, kConfidenceCameAlone,
              out);
  } else {
    out.Note(c, BarrierRejected{BarrierUnclear::kShutdown, &barrier});
  }
}

}  // namespace

void FindBarrier(const Case& c, Findings& out) {
  for (const FailedBarrier& barrier : FailedBarriers(c.topology)) {
    if (!c.timeline.roots.empty()) {
      out.RuleOut(c, BarrierRejected{BarrierUnclear::kAfterFailure, &barrier});
    } else if (barrier.of_shutdown) {
      Shutdown(c, barrier, out);
    } else if (AreFew(c, barrier)) {
      AccuseAll(c, barrier.absent, {0, &barrier, Missed::kBarrier, {}},
                barrier.all_named ? kConfidenceBarrier : kConfidenceHalfOfBarrier, out);
    } else if (AreHalf(c, barrier)) {
      AccuseAll(c, barrier.absent, {0, &barrier, Missed::kBarrier, {}}, kConfidenceHalfOfBarrier,
                out);
    } else {
      out.Note(c, BarrierRejected{BarrierUnclear::kTooManyMissed, &barrier});
    }
  }
}

}  // namespace rapideye::classifier
