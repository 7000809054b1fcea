// Programs diverged if workers of one cohort run different modules, and no worker
// merely lags: the collectives of one program can never meet those of the other.
//
// MODULE_DIVERGENCE: some run a program that the others neither run, queue nor
// just ran. LAUNCH_ORDER: the same programs in another order, as the queues show,
// or as the runtime's own assertion says ("an unexpected leader shows up in the
// launch group with a different launch id").
//
// A collective whose sizes do not agree proves that programs differ, and not which one is odd.
//
// Facts: module names, fingerprints and queues of the status service; the learnt
// sequence; the log line "an unexpected leader shows up in the launch group".
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/findings/sides.h"
#include "classifier/programs/passed_launches.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"
#include "classifier/wait/link_evidence.h"

namespace rapideye::classifier {
namespace {

// True if each worker has data under way that does not arrive, or a connection over which neither
// end's probes get through, and stands where it can wait for another slice: the broken connection
// holds it in the program that the others have left.
bool ConnectionsHold(const Case& c, const std::vector<int>& workers) {
  const auto keeps_data = [&c](int worker) {
    const std::vector<int>& peers = c.links.broken_peers[static_cast<size_t>(worker)];
    return std::any_of(peers.begin(), peers.end(), [&c, worker](int peer) {
      const PairEvidence& evidence = c.links.pairs.at(std::minmax(worker, peer));
      return !evidence.unacked.empty() || evidence.failed_probe.size() == 2;
    });
  };
  const auto may_wait = [&c](int worker) {
    const auto [first, last] = c.positions.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      const int place = c.positions.unit(i).place;
      if (place < 0) continue;
      const HloClass hlo_class = c.positions.place(place).hlo_class;
      if (hlo_class == HloClass::kCrossWait || hlo_class == HloClass::kMaybeWait ||
          hlo_class == HloClass::kUnknown) {
        return true;
      }
    }
    return false;
  };
  return std::all_of(workers.begin(), workers.end(),
                     [&](int worker) { return keeps_data(worker) && may_wait(worker); });
}

// True if the odd workers are whole slices, and another slice has a head of its own: the odd ones
// may be ahead, in a program that follows the learnt step.
bool MayBeAhead(const Case& c, const std::vector<int>& odd) {
  std::map<int, int> of_slice;
  for (int worker : odd) ++of_slice[c.worker(worker).slice];
  for (const auto& [slice, count] : of_slice) {
    const SliceInfo& info = c.topology.slices()[static_cast<size_t>(slice)];
    if (count < info.last - info.first) return false;
  }
  return std::any_of(c.graph.heads.begin(), c.graph.heads.end(), [&](const Head& head) {
    const bool sure = head.kind == HeadKind::kCompute || head.kind == HeadKind::kSparse ||
                      head.kind == HeadKind::kLaggard || head.kind == HeadKind::kIdle;
    return sure && !head.or_mate && !of_slice.contains(c.worker(head.worker).slice);
  });
}

// The chip that stands apart from the cores of its host or of its slice, in the program of these
// workers; null: there is none. The others have left that program, and it cannot.
const Head* ChipThatHolds(const Case& c, const Sides& sides) {
  const auto holds = [&](const Head& head) {
    if (head.whole_host || head.ambiguous || head.or_mate || head.units.empty()) return false;
    const bool of_chip = head.kind == HeadKind::kCompute || head.kind == HeadKind::kElsewhere ||
                         head.kind == HeadKind::kLaggard;
    return of_chip && c.positions.unit(head.units.front()).program == sides.odd_program;
  };
  const auto found = std::find_if(c.graph.heads.begin(), c.graph.heads.end(), holds);
  return found == c.graph.heads.end() ? nullptr : &*found;
}

void ByModule(const Case& c, Findings& out) {
  for (const Sides& sides : DivergedSides(c)) {
    if (sides.same_module) continue;
    std::vector<int> rest;
    std::copy_if(sides.rest.begin(), sides.rest.end(), std::back_inserter(rest), [&](int worker) {
      return c.divergence.running[static_cast<size_t>(worker)] == sides.rest_program;
    });
    const bool rest_held = !rest.empty() && ConnectionsHold(c, rest);
    if (rest_held || ConnectionsHold(c, sides.odd)) {
      out.Note(c, HeldByConnections{rest_held ? &rest : &sides.odd});
      continue;
    }
    if (const Head* head = ChipThatHolds(c, sides)) {
      out.Note(c, HeldByChip{&sides.odd, head});
      continue;
    }
    Finding finding;
    finding.basis = Basis::kDivergence;
    finding.cause = Cause::kDifferentModule;
    finding.detail = Detail::kModuleDivergence;
    finding.confidence = sides.order_known ? kConfidenceDiverged : kConfidenceDivergedOneSided;
    if (!sides.named) finding.confidence = kConfidenceModuleUnnamed;
    if (MayBeAhead(c, sides.odd)) {
      finding.confidence = std::min(finding.confidence, kConfidenceDivergedOneSided);
    }
    DescribeSides(c, sides, finding);
    finding.explains = c.graph.waiting;
    out.Add(std::move(finding));
  }
}

void AddSmallerSide(const Case& c, const std::vector<int>& odd, Differs differs, Finding& finding) {
  for (int worker : odd) {
    if (finding.culprits.size() >= kDivergedCulprits) break;
    Accuse(c, Strength::kStrong, LaunchesDiffer{worker, differs}, finding);
  }
}

void ByQueueOrder(const Case& c, Findings& out) {
  // A learnt order is that of a majority; if the whole job runs against a stale
  // order, that is no divergence.
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
    AddSmallerSide(c, members, Differs::kOrder, finding);
    finding.explains = c.graph.waiting;
    finding.why = finding.culprits.front().why;
    out.Add(std::move(finding));
  }
}

void BySkippedLaunch(const Case& c, Findings& out) {
  if (c.graph.ahead_of_all.empty() || !c.divergence.misordered.empty()) return;
  Finding finding;
  finding.basis = Basis::kDivergence;
  finding.cause = Cause::kDifferentModule;
  finding.detail = Detail::kLaunchOrder;
  finding.confidence = kConfidenceSkippedLaunch;
  AddSmallerSide(c, c.graph.ahead_of_all, Differs::kSkipped, finding);
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

// True if the rest of the slice has been in the odd workers' launch and left it: these are behind.
bool HaveBeenPassed(const Case& c, const std::vector<int>& odd) {
  std::vector<bool> marked(c.topology.workers().size(), false);
  for (int worker : odd) marked[static_cast<size_t>(worker)] = true;
  ForgivePassed(c.topology, c.positions, marked);
  return std::none_of(marked.begin(), marked.end(), [](bool mark) { return mark; });
}

// Finds hosts of one slice that wait in different launches, all at places at which cores wait. A
// collective ends for all participants or for none: cores that wait in one launch for cores in
// the other can wait for ever. Positions show only which side is the smaller one.
class SplitSlice {
 public:
  explicit SplitSlice(const Case& c) : c_(c) {}

  void Apply(Findings& out);

 private:
  using Sides = std::map<int, std::vector<int>>;  // program -> workers

  std::vector<int> OfTheOnlySplitSlice() const;

  // True if a worker of the slice sent no snapshot, or its runtime does not answer.
  bool LacksAnAnswer(int slice) const;

  bool Connected(const std::vector<int>& workers) const;

  // True if each of its cores is in a launch, at a place that can be a wait for another core.
  bool Waits(int worker) const;

  // The smaller side; of equal sides the one that is further on, for it has left out the launch in
  // which the others wait; else the side whose program fewer of the cohort are in. Queues alone do
  // not prove that a side is further on: who has left out a launch queues it for the next step.
  std::vector<int> Odd(const std::vector<int>& one, const std::vector<int>& other) const;

  int64_t InProgramOf(int worker) const;

  // True if every other head waits for the odd hosts, too.
  bool ExplainsHeads(const std::vector<int>& odd) const;

  const Case& c_;
};

void SplitSlice::Apply(Findings& out) {
  if (!c_.divergence.misordered.empty() || !c_.divergence.foreign.empty()) return;
  const std::vector<int> odd = OfTheOnlySplitSlice();
  if (odd.empty() || !ExplainsHeads(odd) || HaveBeenPassed(c_, odd)) return;
  Finding finding;
  finding.basis = Basis::kDivergence;
  finding.cause = Cause::kDifferentModule;
  finding.detail = Detail::kLaunchOrder;
  finding.confidence = kConfidenceSplitSlice;
  AddSmallerSide(c_, odd, Differs::kSplit, finding);
  finding.explains = c_.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

std::vector<int> SplitSlice::OfTheOnlySplitSlice() const {
  const Sides* split = nullptr;
  std::vector<Sides> slices(c_.topology.slices().size());
  for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) {
    const int program = c_.divergence.running[static_cast<size_t>(i)];
    const auto slice = static_cast<size_t>(c_.worker(i).slice);
    if (program >= 0) slices[slice][program].push_back(i);
  }
  for (const Sides& sides : slices) {
    if (sides.size() < 2) continue;
    if (sides.size() > 2 || split != nullptr) return {};
    split = &sides;
  }
  if (split == nullptr) return {};
  for (const auto& [program, workers] : *split) {
    if (!std::all_of(workers.begin(), workers.end(), [&](int i) { return Waits(i); })) return {};
  }
  // All of them may wait for a mate of which nothing is known.
  if (LacksAnAnswer(c_.worker(split->begin()->second.front()).slice)) return {};
  const std::vector<int> odd = Odd(split->begin()->second, split->rbegin()->second);
  const std::vector<int>& rest =
      odd == split->begin()->second ? split->rbegin()->second : split->begin()->second;
  if (odd.empty()) return odd;
  const bool ahead = IsAhead(c_, odd.front(), rest.front());
  // Hosts that are ahead may have passed a transfer at which the others still wait.
  if (WaitsInSlice(c_, ahead ? rest.front() : odd.front()) || (ahead && Connected(rest)))
    return odd;
  // A host that is behind, at a place of which nothing is known, may wait for another slice, unless
  // it is a single host with sockets or probes, which would show a broken connection, and all
  // workers answer.
  const int count = static_cast<int>(c_.topology.slices().size());
  for (int slice = 0; slice < count; ++slice) {
    if (LacksAnAnswer(slice)) return {};
  }
  if (count == 1 || (odd.size() == 1 && rest.size() > 1 && Connected(odd))) return odd;
  return {};
}

bool SplitSlice::LacksAnAnswer(int slice) const {
  const SliceInfo& info = c_.topology.slices()[static_cast<size_t>(slice)];
  for (int i = info.first; i < info.last; ++i) {
    const WorkerInfo& worker = c_.worker(i);
    if (worker.standby) continue;
    if (worker.snapshot == nullptr || worker.snapshot->runtime.state != RuntimeState::kServing) {
      return true;
    }
  }
  return false;
}

bool SplitSlice::Connected(const std::vector<int>& workers) const {
  return std::all_of(workers.begin(), workers.end(), [&](int worker) {
    const Snapshot& snapshot = *c_.worker(worker).snapshot;
    return !snapshot.sockets.empty() || !snapshot.probes.empty();
  });
}

bool SplitSlice::Waits(int worker) const {
  const auto [first, last] = c_.positions.UnitsOf(worker);
  for (int i = first; i < last; ++i) {
    const Unit& unit = c_.positions.unit(i);
    if (unit.state != UnitState::kRunning || IsMoving(unit)) return false;
    switch (c_.positions.place(unit.place).hlo_class) {
      case HloClass::kCompute:
      case HloClass::kKernel:
      case HloClass::kInput:
      case HloClass::kCrossWait:
        return false;
      default:
        break;
    }
  }
  return first != last;
}

std::vector<int> SplitSlice::Odd(const std::vector<int>& one, const std::vector<int>& other) const {
  if (one.size() != other.size()) return one.size() < other.size() ? one : other;
  const bool ahead = IsAhead(c_, one.front(), other.front());
  const bool behind = !ahead && IsAhead(c_, other.front(), one.front());
  const auto& cohort = c_.topology.cohorts()[static_cast<size_t>(c_.worker(one.front()).cohort)];
  const bool sure = cohort.order_was_given || StepOf(c_, one.front()) != StepOf(c_, other.front());
  const int64_t votes = InProgramOf(one.front()) - InProgramOf(other.front());
  if (votes != 0 && !(sure && (ahead || behind))) return votes < 0 ? one : other;
  return ahead ? one : behind ? other : std::vector<int>();
}

int64_t SplitSlice::InProgramOf(int worker) const {
  const auto& running = c_.divergence.running;
  return std::count(running.begin(), running.end(), running[static_cast<size_t>(worker)]);
}

bool SplitSlice::ExplainsHeads(const std::vector<int>& odd) const {
  const int slice = c_.worker(odd.front()).slice;
  return std::all_of(c_.graph.heads.begin(), c_.graph.heads.end(), [&](const Head& head) {
    return head.kind == HeadKind::kCrossWait ||
           (head.whole_host && c_.worker(head.worker).slice == slice);
  });
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
        Evidence(c, Strength::kDirect, Words{event.worker, event.text, Said::kOfOthers}));
  }
  if (reporters.empty()) return;
  std::sort(reporters.begin(), reporters.end());
  finding.basis = Basis::kError;
  finding.cause = Cause::kDifferentModule;
  finding.detail = Detail::kLaunchOrder;
  // The workers whose launches differ are to blame rather than those that noticed the difference.
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
    AddSmallerSide(c, reporters, Differs::kReporter, finding);
  } else {
    AddSmallerSide(c, odd, Differs::kLaunches, finding);
  }
  finding.explains = c.graph.waiting;
  finding.why = finding.culprits.front().why;
  out.Add(std::move(finding));
}

// A worker that received unexpected data reports it and may be innocent: no culprit is named.
void ByWords(const Case& c, Findings& out) {
  Finding finding;
  for (int i = 0; i < c.timeline.first_count; ++i) {
    const ErrorEvent& event =
        c.timeline.errors[static_cast<size_t>(c.timeline.roots[static_cast<size_t>(i)])];
    if (event.kind != ErrorKind::kCollectiveMismatch) continue;
    if (finding.evidence.size() >= kMaxEvidence) break;
    finding.evidence.push_back(
        Evidence(c, Strength::kDirect, Words{event.worker, event.text, Said::kUnexpectedData}));
  }
  if (finding.evidence.empty()) return;
  finding.basis = Basis::kError;
  finding.cause = Cause::kDifferentModule;
  finding.confidence = kConfidenceMismatchText;
  finding.explains = c.graph.waiting;
  finding.why = finding.evidence.front().statement;
  out.Add(std::move(finding));
}

}  // namespace

void FindDifferentModule(const Case& c, Findings& out) {
  ByAssertion(c, out);
  ByWords(c, out);
  ByModule(c, out);
  ByQueueOrder(c, out);
  BySkippedLaunch(c, out);
  SplitSlice(c).Apply(out);
}

}  // namespace rapideye::classifier
