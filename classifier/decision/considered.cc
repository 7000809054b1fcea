#include "classifier/decision/considered.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "classifier/verdict/thresholds.h"
#include "classifier/wait/link_evidence.h"

namespace rapideye::classifier {
namespace {

struct Answer {
  WhyNot why;
  std::optional<int64_t> count = std::nullopt;
};

template <typename List>
int64_t SizeOf(const List& list) {
  return static_cast<int64_t>(list.size());
}

// Workers with a unit of which `holds` is true. The units of a worker stand side by side.
template <typename Predicate>
int64_t CountWorkers(const Positions& positions, Predicate holds) {
  int64_t count = 0;
  int last = -1;
  for (const Unit& unit : positions.units()) {
    if (unit.worker == last || !holds(unit)) continue;
    last = unit.worker;
    ++count;
  }
  return count;
}

Answer NoBadChip(const Case& c) {
  if (c.positions.units().empty()) return {WhyNot::kNoCoresKnown};
  if (!c.graph.heads.empty()) return {WhyNot::kHostsStandOut, SizeOf(c.graph.heads)};
  return {WhyNot::kNoCoreStandsOut, SizeOf(c.positions.units())};
}

Answer NoNetworkFault(const Case& c) {
  const LinkEvidence& links = c.links;
  const int64_t broken = std::count_if(links.pairs.begin(), links.pairs.end(),
                                       [](const auto& entry) { return entry.second.Broken(); });
  if (broken > 0) return {WhyNot::kLinksNotAwaited, broken};
  int64_t shown = 0;
  for (const Snapshot& snapshot : c.capture.snapshots) {
    shown += SizeOf(snapshot.sockets) + SizeOf(snapshot.probes);
  }
  if (shown == 0) return {WhyNot::kNoLinksKnown};
  return {WhyNot::kLinksWork, shown};
}

Answer NoDivergence(const Case& c) {
  const int64_t apart =
      std::count(c.divergence.is_foreign.begin(), c.divergence.is_foreign.end(), true) +
      SizeOf(c.divergence.misordered);
  if (apart > 0) return {WhyNot::kProgramsCanMeet, apart};
  const int64_t running =
      CountWorkers(c.positions, [](const Unit& unit) { return unit.program >= 0; });
  if (running == 0) return {WhyNot::kNoProgramsKnown};
  return {WhyNot::kSamePrograms, running};
}

Answer NoMismatch(const Case& c) {
  std::map<std::string_view, std::set<std::string_view>> modules;  // to their fingerprints
  for (const ProgramInfo& program : c.topology.programs()) {
    if (!program.module.empty()) modules[program.module].insert(program.fingerprint);
  }
  if (modules.empty()) return {WhyNot::kNoProgramsKnown};
  const int64_t several = std::count_if(modules.begin(), modules.end(),
                                        [](const auto& entry) { return entry.second.size() > 1; });
  if (several > 0) return {WhyNot::kNotOneLaunch, several};
  return {WhyNot::kOneFingerprint, SizeOf(modules)};
}

Answer NoDataStall(const Case& c) {
  const int64_t working = CountWorkers(c.positions, [](const Unit& unit) {
    return unit.state == UnitState::kRunning || unit.state == UnitState::kEntry;
  });
  if (working == 0) return {WhyNot::kNoCoresKnown};
  return {WhyNot::kEveryHostQueued, working};
}

Answer NoFailure(const Case& c) {
  const int64_t missing =
      std::count_if(c.topology.workers().begin(), c.topology.workers().end(),
                    [](const WorkerInfo& worker) { return worker.snapshot == nullptr; });
  if (missing > 0) return {WhyNot::kMissingNotNeeded, missing};
  if (!c.timeline.errors.empty()) return {WhyNot::kFailuresFollow, SizeOf(c.timeline.errors)};
  return {WhyNot::kNobodyFailed};
}

Answer AnswerOf(const Case& c, Cause cause) {
  switch (cause) {
    case Cause::kBadTpuChip:
      return NoBadChip(c);
    case Cause::kNetworkingIssue:
      return NoNetworkFault(c);
    case Cause::kDifferentModule:
      return NoDivergence(c);
    case Cause::kFingerprintMismatch:
      return NoMismatch(c);
    case Cause::kDataInputStall:
      return NoDataStall(c);
    case Cause::kUnrecoverableError:
      return NoFailure(c);
    case Cause::kNoHang:
    case Cause::kUnknown:
      break;
  }
  return {WhyNot::kNothingCompletes, c.timeline.still_ms};
}

}  // namespace

std::vector<Considered> NothingFound(const Case& c, const std::vector<Cause>& found) {
  std::vector<Considered> all;
  for (const Cause cause :
       {Cause::kNoHang, Cause::kBadTpuChip, Cause::kNetworkingIssue, Cause::kDifferentModule,
        Cause::kFingerprintMismatch, Cause::kDataInputStall, Cause::kUnrecoverableError}) {
    if (std::find(found.begin(), found.end(), cause) != found.end()) continue;
    const Answer answer = AnswerOf(c, cause);
    Considered& one = all.emplace_back();
    one.cause = cause;
    one.why = answer.why;
    one.count = answer.count;
  }
  return all;
}

Considered Lost(const Finding& finding, WhyNot why) {
  Considered lost;
  lost.cause = finding.cause;
  lost.detail = finding.detail;
  lost.why = why;
  lost.certainty = finding.confidence;
  for (const Culprit& culprit : finding.culprits) lost.workers.push_back(culprit.worker);
  std::sort(lost.workers.begin(), lost.workers.end());
  lost.workers.erase(std::unique(lost.workers.begin(), lost.workers.end()), lost.workers.end());
  if (lost.workers.size() > kMaxConsideredWorkers) lost.workers.resize(kMaxConsideredWorkers);
  return lost;
}

}  // namespace rapideye::classifier
