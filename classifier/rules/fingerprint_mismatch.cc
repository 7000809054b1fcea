// One module, compiled to different programs on different workers of a cohort:
// the same name with more than one fingerprint. A bug in tracing or compiling.
// Launch ids are counters of each program and need not be equal.
//
// Where no runtime reports the running programs, the fingerprints are those of XLA's dumps: the
// compilations of each worker of a module for all devices. A program that differs does not yet
// stop the job: one with another constant trains on. So it counts once the job stands, and only
// after any finding that singles a host out by its behaviour.
//
// Facts: module names and fingerprints of the status service; those of XLA's dumps; the
// words of a collective whose sizes do not agree.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classifier/findings/dumped_sides.h"
#include "classifier/findings/facts.h"
#include "classifier/findings/sides.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

void ByRuntime(const Case& c, Findings& out) {
  for (const Sides& sides : DivergedSides(c)) {
    if (!sides.same_module) continue;
    Finding finding;
    finding.basis = Basis::kDivergence;
    finding.cause = Cause::kFingerprintMismatch;
    finding.confidence = sides.named ? kConfidenceFingerprint : kConfidenceFingerprintUnnamed;
    DescribeSides(c, sides, finding);
    finding.explains = c.graph.waiting;
    out.Add(std::move(finding));
  }
}

// True if a collective has found sizes that do not agree.
bool MismatchSaid(const Case& c) {
  return std::any_of(c.timeline.errors.begin(), c.timeline.errors.end(), [](const auto& event) {
    return event.kind == ErrorKind::kCollectiveMismatch;
  });
}

ProgramSide Side(const Case& c, const DumpedSides& sides, const std::vector<int>& workers,
                 std::string_view fingerprint) {
  ProgramSide side;
  side.module = std::string(sides.module);
  side.fingerprint = std::string(fingerprint);
  for (int worker : workers) {
    if (side.workers.size() == kDivergedCulprits) break;
    const std::vector<Program>& programs = c.worker(worker).snapshot->programs;
    if (std::any_of(programs.begin(), programs.end(),
                    [&](const Program& program) { return program.fingerprint == fingerprint; })) {
      side.workers.push_back(c.worker(worker).id);
    }
  }
  return side;
}

void NameOddOnes(const Case& c, const std::vector<DumpedSides>& found, Finding& finding) {
  std::set<int> culprits;
  for (const DumpedSides& sides : found) {
    if (finding.why.empty()) finding.why = FactText(c, CompiledOtherwise{&sides});
    if (finding.evidence.size() < kMaxEvidence) {
      finding.evidence.push_back(Evidence(c, Strength::kStrong, CompiledOtherwise{&sides}));
    }
    culprits.insert(sides.odd.begin(), sides.equal ? sides.odd.begin() + 1 : sides.odd.end());
    if (sides.equal) culprits.insert(sides.rest.front());
  }
  for (int worker : culprits) {
    if (finding.culprits.size() == kDivergedCulprits) break;
    const HasCompiled fact{worker, &found.front()};
    finding.culprits.push_back(CulpritWorker(c, worker, FactText(c, fact)));
  }
}

void ByDumps(const Case& c, Findings& out) {
  if (!c.positions.units().empty()) return;
  const std::string trigger = c.capture.header.trigger.value_or("");
  const bool said = trigger != "operator" && MismatchSaid(c);
  if (trigger != "no-progress" && !said) return;
  const DumpedDivergence divergence = FindDumpedSides(c.topology);
  for (const std::string_view module : divergence.scattered) {
    out.Note(c, CompilationsScattered{module});
  }
  if (divergence.sides.empty()) return;
  const DumpedSides& first = divergence.sides.front();
  Finding finding;
  finding.basis = Basis::kDivergence;
  finding.cause = Cause::kFingerprintMismatch;
  finding.confidence = first.more    ? kConfidenceFingerprintMore
                       : first.equal ? kConfidenceFingerprintOfHalves
                                     : kConfidenceFingerprintOfDump;
  if (said) finding.confidence = kConfidenceFingerprintSaid;
  finding.sides = {Side(c, first, first.odd, first.odd_fingerprint),
                   Side(c, first, first.rest, first.rest_fingerprint)};
  for (const DumpedSides& other : divergence.sides) {
    if (finding.sides.size() >= kMostProgramSides) break;
    if (&other == &first || other.rest_fingerprint != first.rest_fingerprint) continue;
    finding.sides.push_back(Side(c, other, other.odd, other.odd_fingerprint));
  }
  NameOddOnes(c, divergence.sides, finding);
  finding.explains = c.graph.waiting;
  out.Add(std::move(finding));
}

}  // namespace

void FindFingerprintMismatch(const Case& c, Findings& out) {
  ByRuntime(c, out);
  ByDumps(c, out);
}

}  // namespace rapideye::classifier
