// Case holds the evidence that rules read; Finding holds a rule's result for the decision.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_FINDING_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_FINDING_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/errors/timeline.h"
#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "classifier/programs/divergence.h"
#include "classifier/verdict/log_evidence.h"
#include "classifier/verdict/verdict.h"
#include "classifier/wait/link_evidence.h"
#include "classifier/wait/wait_graph.h"
#include "classifier/wait/wavefront.h"

namespace rapideye::classifier {

// The kind of evidence behind a finding. The decision weighs kinds, never rules.
enum class Basis {
  kError,       // something failed outright, before the standstill
  kPosition,    // the place where cores stand
  kDivergence,  // the programs that workers run
  kLink,        // a connection that does not deliver
  kAbsence,     // a worker is missing
  kPause,       // nothing is wrong: the job works, or rests on purpose
};

struct Finding {
  Basis basis = Basis::kPosition;
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  double confidence = 0;
  std::vector<Culprit> culprits;  // in the order of Verdict::culprits
  std::vector<BrokenLink> links;
  std::array<std::vector<WorkerId>, 2> partition;  // as Verdict::partition
  std::vector<EvidenceItem> evidence;
  // True if the evidence cannot result from another fault of the job: of several faults, such a
  // finding is named beside the cause. A position alone may result from any fault.
  bool own = false;
  int64_t explains = 0;  // cores that wait for the culprits
  std::string why;       // one sentence
  // Evidence from outside the job's reach that allows removal at once; empty: none.
  std::vector<RemovalTarget> removable;
  std::string removal_reason;                        // or why `removable` is empty
  std::vector<ProgramSide> sides;                    // as Verdict::sides
  std::optional<int64_t> excused_ms = std::nullopt;  // as Verdict::excused_ms
};

// The evidence in all forms that rules read, computed once. Refers into the capture.
struct Case {
  // `logs`: nullptr unless logs are all there is. Outlives the case, as the capture does.
  explicit Case(const Capture& capture, const LogEvidence* logs = nullptr);

  const Capture& capture;
  const LogEvidence* logs;
  Topology topology;
  Positions positions;
  Divergence divergence;
  WaitGraph graph;
  Timeline timeline;
  std::optional<FirstToStop> first_to_stop;
  int64_t threshold_ms = 0;  // how long without progress counts as a hang here
  LinkEvidence links;

  // The job stands for the threshold or longer: an alarm says so; or watchdogs of their own, which
  // have a limit of their own, ended most processes; or all training loops that
  // report on themselves do, by their pages or by the steps in their logs; or where none reports,
  // its processes only wait. Where launches are known, the launches are better evidence.
  bool JobStands() const;
  // How long any worker may rest on purpose, in ms. Twice the threshold where that is longer,
  // because a learnt threshold shows how long the launches of this job take.
  int64_t LongestPauseMs() const;
  // For how long a pause of this kind, as a training loop announces it, excuses a job that
  // stands, in ms: three times the longest healthy pause of the kind that the capture holds.
  int64_t ExcusedMs(Phase phase) const;

  const WorkerInfo& worker(int index) const { return topology.worker(index); }
  const Place* PlaceOf(const Head& head) const {
    return head.place < 0 ? nullptr : &positions.place(head.place);
  }
};

// Shared by rules: a culprit, with the known facts about the worker or core.
Culprit CulpritWorker(const Case& c, int worker, std::string why);
Culprit CulpritCore(const Case& c, int worker, const Core& core, std::string why);
EvidenceItem Evidence(const Case& c, Strength strength, const std::vector<int>& workers,
                      std::string statement);
// "the other 63 cores of slice 2 wait at all-gather-done.8 (…)"
std::string WhoWaits(const Case& c, const Head& head);
// The time for which the units of a head have stood, in words; empty if unknown.
std::string StoodFor(const Case& c, const Head& head);

// The step that the worker's page shows; absent: it shows none.
std::optional<int64_t> StepOf(const Case& c, int worker);

// A wait for input that began no later than the standstill, seen on the worker's
// progress page or stacks; empty: none seen.
std::string InputWaitSeen(const Case& c, int worker);

// True if the hosts that queue nothing wait at a barrier by their stacks, and so do most hosts: the
// few others, whose cores wait in a launch, have passed that barrier without them.
bool MostWaitAtBarrier(const Case& c);

// True if the runtime does not answer, because the kernel holds its training process: what is
// known of its cores is the past. False if its stack shows in what it is.
bool IsStuckInKernel(const Case& c, int worker);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_FINDING_H_
