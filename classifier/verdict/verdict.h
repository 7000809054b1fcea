// Verdict states the classifier's conclusion from a capture, with its reasons. Plain values.
#ifndef RAPIDEYE_CLASSIFIER_VERDICT_VERDICT_H_
#define RAPIDEYE_CLASSIFIER_VERDICT_VERDICT_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/verdict/wait_chain.h"
#include "proto/v1/evidence.h"

namespace rapideye {

enum class Cause {
  kNoHang,
  kBadTpuChip,
  kNetworkingIssue,
  kDifferentModule,
  kFingerprintMismatch,
  kDataInputStall,
  kUnrecoverableError,
  kUnknown,
};

// Refines a cause: an operator acts on the cause, and the detail names the
// team.
enum class Detail {
  kNone,
  // bad chip
  kTensorCore,
  kSparseCore,
  kGpu,
  // networking
  kDcnLink,
  kDcnHost,
  kDcnPartition,
  kIciLink,
  // different module
  kModuleDivergence,
  kLaunchOrder,
  // data input stall
  kInputPipeline,
  kProgramNotQueued,
  // unrecoverable
  kCoreHalt,
  kProcessExit,
  kProcessStopped,
  kWorkerLost,
  kHostToDevice,
  kDeviceToHost,
  kOutOfMemory,
  kPower,
  kPreempted,
  kDeviceUnavailable,
  kNotStarted,
  kConfiguration,
  kCoordinationService,
  kOther,
  // no hang
  kRunning,
  kPaused,
  kStarting,
  kEnded,
};

// The activity of a culprit's host, as far as page, stacks and process show it
// (classifier/CAUSES.md).
enum class HostActivity {
  kCheckpointSave,
  kCheckpointRestore,
  kStorageRead,
  kCompilation,
  kBarrier,
  kLock,
  kRetry,
  kGarbageCollection,
  kInput,
  kStartUp,
  kShutdown,
  kPaused,
  kOther,
};
std::string_view HostActivityName(HostActivity activity);  // "CHECKPOINT_SAVE" ...

// The names in digests and APIs (classifier/CAUSES.md): "BAD_TPU_CHIP", "TENSOR_CORE"; "" for
// Detail::kNone.
std::string_view CauseName(Cause cause);
std::string_view DetailName(Detail detail);

enum class Strength { kDirect, kStrong, kWeak };
std::string_view StrengthName(Strength strength);  // "DIRECT" ...

// A worker or core to look at. `why` is one sentence for people.
struct Culprit {
  WorkerId worker;
  std::string host;
  std::optional<std::string> node;
  std::optional<int32_t> chip;
  std::optional<CoreType> core_type;
  std::optional<int32_t> core_index;
  std::optional<std::string> nic;
  std::string why;
  std::optional<HostActivity> host_activity = std::nullopt;
};

// A broken connection between two workers.
struct BrokenLink {
  WorkerId from;
  WorkerId to;
  std::optional<std::string> nic;
  std::string why;
};

// One sentence of evidence and the workers that it is about.
struct EvidenceItem {
  std::string statement;
  Strength strength = Strength::kWeak;
  std::vector<WorkerId> workers;  // sorted
};

struct Alternative {
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  double confidence = 0;
  std::vector<Culprit> culprits;
  std::string why;
  // A fault beside the cause, by evidence that the cause does not explain; false: a less certain
  // reading of the same hang.
  bool independent = false;
};

// Why a cause that was considered is not the verdict.
enum class WhyNot {
  // A rule found something (Considered::certainty) ...
  kLessCertain,    // ... and `by` is surer
  kTooUncertain,   // ... less sure than a cause must be
  kFailure,        // ... that the failure `by` of the same workers explains
  kNotStarted,     // ... that a worker explains that has not come
  kAbsence,        // ... at mates of a worker that is missing
  kBrokenLink,     // ... that a broken connection explains
  kPause,          // ... at hosts that rest on purpose
  kContradiction,  // ... of no hang, which surer evidence contradicts
  kProgress,       // ... while the job makes progress
  // No rule found the cause:
  kNoCoresKnown,      // nothing is known of any core
  kNoCoreStandsOut,   // of `count` cores none is where the others are not
  kHostsStandOut,     // the chain ends at `count` hosts or transfers, at no single chip
  kNoLinksKnown,      // neither sockets nor probes between workers are known
  kLinksWork,         // none of `count` connections shown is broken
  kLinksNotAwaited,   // `count` connections show faults; nothing that waits rests on them
  kNoProgramsKnown,   // nothing is known of any program
  kSamePrograms,      // all `count` workers run programs of one order
  kProgramsCanMeet,   // `count` workers are elsewhere in the programs, as a job may be
  kOneFingerprint,    // each of `count` modules has one fingerprint
  kNotOneLaunch,      // `count` modules have several, of which no launch is known to run two
  kEveryHostQueued,   // none of `count` hosts lacks work or waits for input at the chain's end
  kNobodyFailed,      // no worker halted, ended or is missing
  kFailuresFollow,    // `count` errors are younger than the standstill, or follow from others
  kMissingNotNeeded,  // `count` workers are missing; nothing shows that others wait for them
  kNothingCompletes,  // the cores have stood for `count` ms
};
std::string_view WhyNotName(WhyNot why);  // "LESS_CERTAIN" ...

// A cause that was weighed and is not the verdict.
struct Considered {
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  WhyNot why = WhyNot::kLessCertain;
  // The certainty of a finding, before calibration. Absent: no rule found the cause.
  std::optional<double> certainty;
  // The finding that won: for kLessCertain, kFailure, kNotStarted, kAbsence and kBrokenLink.
  std::optional<Cause> by;
  Detail by_detail = Detail::kNone;
  std::optional<int64_t> count;   // as `why` says
  std::vector<WorkerId> workers;  // culprits of the finding, sorted; some of them
};

// A removal that this capture allows by itself, without any history.
struct RemovalTarget {
  std::string host;
  std::optional<std::string> node;
  std::optional<std::string> nic;
  std::optional<int32_t> chip;
};

struct Removal {
  bool eligible = false;
  std::vector<RemovalTarget> targets;
  std::string reason;  // always set
};

// The kind of a step of the decision; explanations print steps in this order.
enum class ReasonKind {
  kWaits,     // which cores wait for which, by group
  kHead,      // the core that all others wait for, and why
  kFor,       // the finding of a rule
  kAgainst,   // a rule rejected a finding because of this
  kRuledOut,  // would have been a culprit or a cause; something else explains it
  kDecision,  // how the findings were weighed
};
std::string_view ReasonKindName(ReasonKind kind);  // "WAITS" ...

// One step of the decision, recorded while deciding (never reconstructed).
struct Reason {
  std::string rule;  // file under classifier/rules, or "wait_graph", "decide"
  std::string text;
  ReasonKind kind = ReasonKind::kDecision;
  std::optional<double> certainty = std::nullopt;  // of a finding, before calibration
  std::optional<Cause> cause = std::nullopt;       // the cause that it would mean
};

struct RecommendedAction {
  std::string description;
  std::optional<std::string> documentation_url;
};

// The program that one side of a divergence runs.
struct ProgramSide {
  std::optional<std::string> module;
  std::string fingerprint;
  std::vector<WorkerId> workers;  // some of them, sorted
};

// The cause of the hang that the TPU runtime itself logged. It decides nothing.
struct RuntimeVerdict {
  Cause cause = Cause::kUnknown;
  std::vector<WorkerId> workers;  // that it names, as far as they are of the job; sorted
  bool agrees = false;            // with cause and culprits of the verdict
};

// A process that holds chips of a worker and is neither the training process nor a child of it.
struct ForeignHolder {
  WorkerId worker;
  Process process;
};

struct Verdict {
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  // 0..1, calibrated: 0.9 is right nine times in ten. Absent for kUnknown and kNoHang.
  std::optional<double> confidence;
  // Ordered by (slice, task, chip, core); for diverged programs the smaller
  // side, at most 10, or one of each side if they are equal.
  std::vector<Culprit> culprits;
  std::vector<BrokenLink> links;
  // Of Detail::kDcnPartition: the workers on either side of the cut, as far as they are known,
  // sorted, the smaller side first. Otherwise empty.
  std::array<std::vector<WorkerId>, 2> partition;
  std::vector<EvidenceItem> evidence;      // strongest first
  std::vector<Alternative> alternatives;   // most likely first
  std::vector<WorkerId> missing;           // expected, no snapshot; sorted
  std::vector<std::string> lacking;        // evidence that would have helped, sentences
  std::vector<RecommendedAction> actions;  // never empty unless kNoHang
  Removal removal;
  std::optional<RuntimeVerdict> runtime_verdict;  // absent: the runtime logged none
  std::vector<ForeignHolder> holders;             // by worker and pid
  // If programs diverged: the two whose texts are worth comparing, the smaller side first, then
  // further ones, each worth comparing with the second; at most kMostProgramSides. Otherwise empty.
  std::vector<ProgramSide> sides;
  // For a job that pauses: for how many further ms the pause excuses the standstill.
  std::optional<int64_t> excused_ms = std::nullopt;
  std::vector<Reason> reasons;  // in the order they were found
  WaitChain chain;              // by which the verdict was reached
  // The findings that lost, the surest first, then the causes without any finding.
  std::vector<Considered> considered;
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_VERDICT_VERDICT_H_
