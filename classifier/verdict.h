// What the classifier concludes from a capture, with its reasons.
#ifndef RAPIDEYE_CLASSIFIER_VERDICT_H_
#define RAPIDEYE_CLASSIFIER_VERDICT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Refines a cause: the cause is what a person acts on, the detail tells which
// team.
enum class Detail {
  kNone,
  // bad chip
  kTensorCore,
  kSparseCore,
  // networking
  kDcnLink,
  kDcnHost,
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
  kOther,
  // no hang
  kRunning,
  kPaused,
  kEnded,
};

// As everybody reads them (classifier/CAUSES.md): "BAD_TPU_CHIP", "TENSOR_CORE"; "" for
// Detail::kNone.
std::string_view CauseName(Cause cause);
std::string_view DetailName(Detail detail);

enum class Strength { kDirect, kStrong, kWeak };
std::string_view StrengthName(Strength strength);  // "DIRECT" ...

// Someone to look at. `why` is one sentence for people.
struct Culprit {
  WorkerId worker;
  std::string host;
  std::optional<std::string> node;
  std::optional<int32_t> chip;
  std::optional<CoreType> core_type;
  std::optional<int32_t> core_index;
  std::optional<std::string> nic;
  std::string why;
};

// A broken connection between two workers.
struct BrokenLink {
  WorkerId from;
  WorkerId to;
  std::optional<std::string> nic;
  std::string why;
};

// One sentence of evidence and whom it is about.
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
};

// What this capture alone, without any history, allows to remove.
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

// What a step of the decision says; also the order in which people read them.
enum class ReasonKind {
  kWaits,     // who waits for whom, group by group
  kHead,      // whom they all wait for, and why it is that one
  kFor,       // a rule found this
  kAgainst,   // a rule looked, and this spoke against it
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
  std::optional<Cause> cause = std::nullopt;       // and what it would mean
};

struct RecommendedAction {
  std::string description;
  std::optional<std::string> documentation_url;
};

// What the workers of one side of a divergence run.
struct ProgramSide {
  std::optional<std::string> module;
  std::string fingerprint;
  std::vector<WorkerId> workers;  // some of them, sorted
};

struct Verdict {
  Cause cause = Cause::kUnknown;
  Detail detail = Detail::kNone;
  double confidence = 0;  // 0..1, calibrated: 0.9 is right nine times in ten
  // Ordered by (slice, task, chip, core); for diverged programs the smaller
  // side, at most 10, or one of each side if they are equal.
  std::vector<Culprit> culprits;
  std::vector<BrokenLink> links;
  std::vector<EvidenceItem> evidence;      // strongest first
  std::vector<Alternative> alternatives;   // most likely first
  std::vector<WorkerId> missing;           // expected, no snapshot; sorted
  std::vector<std::string> lacking;        // evidence that would have helped, sentences
  std::vector<RecommendedAction> actions;  // never empty unless kNoHang
  Removal removal;
  // Of programs that diverged: the two whose texts are worth comparing, the smaller
  // side first. Otherwise empty.
  std::vector<ProgramSide> sides;
  std::vector<Reason> reasons;  // in the order they were found
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_VERDICT_H_
