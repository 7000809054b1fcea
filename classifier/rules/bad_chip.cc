// A chip is bad if all other cores wait for a core of it that waits for no core, or if
// the hardware reports a fault.
//
// By position: in an SPMD program the cores of a slice meet at every collective.
// So the others wait for a core that is not there, or is still in an earlier
// launch. By the hardware's report: a halt with "observed errors are:
// [Hardware]", a session error that names the worker, AER counters, the kernel's
// log. A kernel that never ends looks the same by position, which is why position
// alone removes nothing.
//
// Facts: classifier/CAUSES.md, "Who everyone waits for" and "Bad TPU chip"; log lines
// "observed errors are: [Hardware]" and session errors of the TPU driver; PCIe AER counters; the
// kernel's log.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "classifier/findings/facts.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// The limit for one worker, in the order of its chips: a host has up to 8 chips, and each may
// become a finding. Further evidence adds nothing.
constexpr int kMaxDirectOfWorker = 16;
// The decision compares findings with each other. So many simultaneous faults are not of chips.
constexpr int kMaxFindingsByWord = 1024;

// More chips seldom fail at once: another fault holds them up.
constexpr size_t kMostChipsAtOnce = 3;

using ChipKey = std::pair<int, std::optional<int32_t>>;  // worker, chip

struct DirectEvidence {
  std::string text;
  bool by_host = false;     // from the kernel's log or PCIe
  bool beyond_job = false;  // the same, by an agent out of the job's reach
  CoreType core_type = CoreType::kUnspecified;
};

bool IsSparse(CoreType type) {
  return type == CoreType::kSparseCore || type == CoreType::kSparseCoreV0;
}

// The device that the evidence is about, by the driver that reports it: Linux has other drivers for
// GPUs than for TPUs.
Detail DetailOf(const DirectEvidence& direct) {
  for (const char* of_gpu : {"NVRM", "nvidia", "amdgpu", "Xid", "GPU"}) {
    if (absl::StrContains(direct.text, of_gpu)) return Detail::kGpu;
  }
  return IsSparse(direct.core_type) ? Detail::kSparseCore : Detail::kTensorCore;
}

// Whether the evidence on a chip of that host allows to remove it at once.
void JudgeChipRemoval(const Case& c, const ChipKey& where, const DirectEvidence& direct,
                      Finding& finding) {
  if (!direct.by_host || !where.second.has_value()) return;
  if (!direct.beyond_job) {
    if (finding.removable.empty()) {
      finding.removal_reason = FactText(c, ChipWordWithinJob{where.first});
    }
    return;
  }
  const WorkerInfo& host = c.worker(where.first);
  finding.removable.push_back({std::string(host.host), host.node, std::nullopt, where.second});
  const ChipWordBeyondJob fact{where.first, *where.second, direct.text};
  finding.removal_reason = FactText(c, fact);
}

// True if a core of the head has not moved, or completed no launch, for so long.
bool StandsFor(const Case& c, const Head& head, int64_t least_ms) {
  return std::any_of(head.units.begin(), head.units.end(), [&](int index) {
    const Unit& unit = c.positions.unit(index);
    return std::max(unit.stuck_ms.value_or(0), unit.frozen_ms.value_or(0)) >= least_ms;
  });
}

// A core that merely computes when another failure raises an alarm has not stood for so long.
bool StandsForLong(const Case& c, const Head& head) {
  const int64_t threshold = c.capture.header.hang_threshold_ms.value_or(kDefaultHangThresholdMs);
  return StandsFor(c, head,
                   std::max(kAgeErrorMs, static_cast<int64_t>(kStepShareOfThreshold *
                                                              static_cast<double>(threshold))));
}

// True if the head's own runtime has declared a hang, and the head has stood for as long as that
// waits before it does. Runtimes abort on a hang: then the end of a process raises the alarm.
bool StandsAsDeclared(const Case& c, const Head& head) {
  const Snapshot* snapshot = c.worker(head.worker).snapshot;
  if (snapshot == nullptr || !snapshot->hang_report.has_value()) return false;
  const int64_t timeout = snapshot->hang_report->timeout_ms;
  return timeout > 0 && StandsFor(c, head, timeout);
}

// True if the failure of some worker raised the alarm, and the head has moved on and completed a
// launch a short while ago: then the job still works, and the head does too.
bool StillWorks(const Case& c, const Head& head) {
  const std::string trigger = c.capture.header.trigger.value_or("");
  if (trigger != "exit" && trigger != "halt") return false;
  if (StandsForLong(c, head) || StandsAsDeclared(c, head)) return false;
  return std::all_of(head.units.begin(), head.units.end(), [&](int index) {
    const Unit& unit = c.positions.unit(index);
    return unit.stuck_ms.has_value() || unit.frozen_ms.has_value();
  });
}

// True if queues of its slice prove that hosts were given the same launches in another order: then
// none of these launches is the earlier one.
bool IsBehindByDisorder(const Case& c, const Head& head) {
  if (head.kind != HeadKind::kLaggard || !c.divergence.order_proved) return false;
  return std::any_of(
      c.divergence.misordered.begin(), c.divergence.misordered.end(),
      [&](int worker) { return c.worker(worker).slice == c.worker(head.worker).slice; });
}

// True if the head spans several chips, at an instruction that waits for its slice.
bool WaitTogether(const Case& c, const Head& head) {
  const Place* place = c.PlaceOf(head);
  if (place == nullptr || place->hlo_class != HloClass::kInSliceWait) return false;
  const std::optional<int32_t>& chip = c.positions.unit(head.units.front()).core->chip;
  return std::any_of(head.units.begin(), head.units.end(),
                     [&](int unit) { return c.positions.unit(unit).core->chip != chip; });
}

// True if the head stands where nothing is known of its place, and its peer in another slice sent
// no snapshot: it may wait for that one.
bool MayAwaitMissing(const Case& c, const Head& head) {
  const Place* place = c.PlaceOf(head);
  if (head.kind != HeadKind::kElsewhere || head.moving || place == nullptr ||
      place->hlo_class != HloClass::kUnknown) {
    return false;
  }
  const WorkerInfo& own = c.worker(head.worker);
  const std::vector<WorkerInfo>& workers = c.topology.workers();
  return std::any_of(workers.begin(), workers.end(), [&own](const WorkerInfo& other) {
    return other.snapshot == nullptr && !other.standby && other.slice != own.slice &&
           other.id.task == own.id.task;
  });
}

class BadChipRule {
 public:
  BadChipRule(const Case& c, Findings& out) : c_(c), out_(out) {}

  void Apply();

 private:
  static bool IsChipFault(ErrorKind kind);
  void CollectDirect();

  // The evidence kept for the chip, `direct` if it is the first; nullptr beyond the worker's limit.
  DirectEvidence* AddDirect(const ChipKey& key, DirectEvidence direct);

  using Direct = std::map<ChipKey, DirectEvidence>::const_iterator;
  // All evidence on a chip: that which names this chip, and that on its host which names no
  // chip.
  std::vector<Direct> DirectOn(const ChipKey& chip) const;
  static bool IsChipHead(const Head& head, Detail detail);
  double ConfidenceOf(const Head& head) const;

  // True if the head's instruction waits for no core, and the head stands there for longer than the
  // instruction may take: then no other fault can be the reason.
  bool StandsByItself(const Head& head) const;
  const Core& CoreOf(const Head& head, int unit) const;

  // Reports heads that the hardware reports as broken, then the others:
  // a head that only stands elsewhere may wait for a broken one.
  void ByPosition(Detail detail);

  // The workers at each task and chip.
  using Seats = std::map<std::pair<int32_t, std::optional<int32_t>>, std::set<int>>;

  std::pair<int32_t, std::optional<int32_t>> SeatOf(const Head& head) const {
    return {c_.worker(head.worker).id.task, CoreOf(head, head.units.front()).chip};
  }

  Seats SeatsOf(const std::vector<const Head*>& heads) const;

  // Removes those that may wait for another one, which stands at an earlier place of the same
  // launch: a collective of a part of the slice, or a transfer, holds up whoever comes to it first.
  // The code's order is weak where loops repeat it, but it is all that tells the two apart.
  void DropWhoMayWait(std::vector<const Head*>& heads) const;

  // True if a head has the same task and chip in another slice: the two exchange data.
  bool IsPeer(const Head& head, const Seats& seats) const;
  bool HasDirect(const Head& head) const;

  // A halt of one core stops the others of its host wherever they are. If the
  // positions point at several chips of a host, the hardware's report, which names
  // one of them or at least their host, is the better evidence.
  bool OnlyTheWordTells(const Head& of_host) const;
  void CollectChipsOfHeads();
  void Report(Detail detail, const std::vector<const Head*>& heads);
  void AddWavefront(const Head& head, const Core& core, Finding& finding) const;

  // Adds the hardware's report on a chip that leads by position, too.
  void UseDirect(const ChipKey& key, Finding& finding);

  // Reports chips by the hardware's report alone.
  void ByWord();

  // True if no other worker failed clearly before this one.
  bool IsAmongFirst(int worker) const;

  const Case& c_;
  Findings& out_;
  std::map<ChipKey, DirectEvidence> direct_;
  std::map<int, int> direct_of_;  // the amount of evidence from each worker
  std::map<int, std::set<std::optional<int32_t>>> chips_of_heads_;
  std::set<ChipKey> used_;
};

void BadChipRule::Apply() {
  CollectDirect();
  CollectChipsOfHeads();
  for (const Detail detail : {Detail::kTensorCore, Detail::kSparseCore}) ByPosition(detail);
  ByWord();
}

bool BadChipRule::IsChipFault(ErrorKind kind) {
  return kind == ErrorKind::kKernelHardware || kind == ErrorKind::kHardwareHalt ||
         kind == ErrorKind::kChipDriver;
}

void BadChipRule::CollectDirect() {
  for (int root : c_.timeline.roots) {
    const ErrorEvent& event = c_.timeline.errors[static_cast<size_t>(root)];
    if (!IsChipFault(event.kind)) continue;
    const DirectEvidence direct{event.text, event.by_host, event.beyond_job, event.core_type};
    DirectEvidence* known = AddDirect({event.worker, event.chip}, direct);
    if (known != nullptr && direct.beyond_job && !known->beyond_job) *known = direct;
  }
  for (size_t i = 0; i < c_.topology.workers().size(); ++i) {
    const Snapshot* snapshot = c_.topology.workers()[i].snapshot;
    if (snapshot == nullptr) continue;
    for (const PcieCounters& pcie : snapshot->pcie) {
      if (pcie.fatal <= 0) continue;
      DirectEvidence direct;
      direct.text = FactText(c_, PcieFatal{static_cast<int>(i), pcie.fatal});
      direct.by_host = true;
      direct.beyond_job = snapshot->direct_evidence.value_or(false);
      DirectEvidence* known = AddDirect({static_cast<int>(i), pcie.chip}, direct);
      if (known != nullptr && !known->beyond_job && (direct.beyond_job || !known->by_host)) {
        *known = direct;
      }
    }
  }
}

DirectEvidence* BadChipRule::AddDirect(const ChipKey& key, DirectEvidence direct) {
  const auto known = direct_.find(key);
  if (known != direct_.end()) return &known->second;
  if (++direct_of_[key.first] > kMaxDirectOfWorker) return nullptr;
  return &direct_.emplace(key, std::move(direct)).first->second;
}

std::vector<BadChipRule::Direct> BadChipRule::DirectOn(const ChipKey& chip) const {
  std::vector<Direct> found;
  const auto of_host = direct_.find({chip.first, std::nullopt});
  if (of_host != direct_.end()) found.push_back(of_host);
  const auto of_chip = direct_.find(chip);
  if (of_chip != direct_.end() && of_chip != of_host) found.push_back(of_chip);
  return found;
}

bool BadChipRule::IsChipHead(const Head& head, Detail detail) {
  switch (head.kind) {
    case HeadKind::kSparse:
      return detail == Detail::kSparseCore;
    case HeadKind::kCompute:
      return detail == Detail::kTensorCore;
    case HeadKind::kLaggard:
    case HeadKind::kElsewhere:
      // All cores of a host at one place are held by the host, not by a chip.
      return detail == Detail::kTensorCore && !head.whole_host;
    case HeadKind::kInput:
    case HeadKind::kIdle:
    case HeadKind::kCrossWait:
      return false;
  }
  return false;
}

double BadChipRule::ConfidenceOf(const Head& head) const {
  double confidence = kConfidenceFewElsewhere;
  if (head.kind == HeadKind::kSparse) {
    confidence = head.sparse >= 0 ? kConfidenceSparseHead : kConfidenceSparseByTensor;
  } else if (head.kind == HeadKind::kCompute) {
    confidence = head.whole_host ? kConfidenceWholeHostCompute
                 : head.alone    ? kConfidenceLoneComputer
                                 : kConfidenceComputeHead;
  } else if (head.behind) {
    confidence = kConfidenceLaggard;
  } else if (head.hlo_waits) {
    confidence = kConfidenceWaitingHead;
  }
  // Chips in one collective of their slice wait for each other, or for a core that is not seen.
  if (head.hlo_waits && WaitTogether(c_, head)) confidence = kConfidenceManyHeads;
  if (head.ambiguous || MayAwaitMissing(c_, head)) {
    confidence = std::min(confidence, kConfidencePeerHead);
  }
  if (head.or_mate) confidence = std::min(confidence, kConfidenceManyHeads);
  if (head.moving) confidence -= kConfidenceLoopPenalty;
  return confidence;
}

bool BadChipRule::StandsByItself(const Head& head) const {
  return head.kind == HeadKind::kCompute && !head.whole_host && !head.ambiguous && !head.or_mate &&
         StandsForLong(c_, head);
}

const Core& BadChipRule::CoreOf(const Head& head, int unit) const {
  if (head.sparse >= 0) return *c_.positions.sparse()[static_cast<size_t>(head.sparse)].core;
  return *c_.positions.unit(unit).core;
}

void BadChipRule::ByPosition(Detail detail) {
  std::vector<const Head*> confirmed;
  std::vector<const Head*> others;
  for (const Head& head : c_.graph.heads) {
    if (!IsChipHead(head, detail) || OnlyTheWordTells(head)) continue;
    if (IsStuckInKernel(c_, head.worker) && !HasDirect(head)) continue;
    if (IsBehindByDisorder(c_, head) && !HasDirect(head)) continue;
    if (HasDirect(head)) {
      confirmed.push_back(&head);
    } else if (!StillWorks(c_, head)) {
      others.push_back(&head);
    } else {
      out_.Note(c_, WentOnRecently{&head});
    }
  }
  if (!confirmed.empty()) {
    const Seats seats = SeatsOf(confirmed);
    std::erase_if(others,
                  [&](const Head* head) { return head->ambiguous || IsPeer(*head, seats); });
  }
  DropWhoMayWait(others);
  Report(detail, confirmed);
  Report(detail, others);
}

void BadChipRule::DropWhoMayWait(std::vector<const Head*>& heads) const {
  if (heads.size() > kMostChipsAtOnce) return;
  const auto all = heads;
  std::erase_if(heads, [&](const Head* head) {
    const Place* place = c_.PlaceOf(*head);
    if (head->kind == HeadKind::kCompute || head->kind == HeadKind::kSparse) return false;
    return place != nullptr && std::any_of(all.begin(), all.end(), [&](const Head* other) {
             const Place* earlier = c_.PlaceOf(*other);
             return earlier != nullptr && other->kind != HeadKind::kSparse &&
                    earlier->program == place->program && other->at == head->at &&
                    earlier->tag == place->tag && earlier->pc < place->pc;
           });
  });
}

BadChipRule::Seats BadChipRule::SeatsOf(const std::vector<const Head*>& heads) const {
  Seats seats;
  for (const Head* head : heads) {
    if (!head->units.empty()) seats[SeatOf(*head)].insert(head->worker);
  }
  return seats;
}

bool BadChipRule::IsPeer(const Head& head, const Seats& seats) const {
  if (head.units.empty()) return false;
  const auto found = seats.find(SeatOf(head));
  if (found == seats.end()) return false;
  return found->second.size() > 1 || !found->second.contains(head.worker);
}

bool BadChipRule::HasDirect(const Head& head) const {
  return std::any_of(head.units.begin(), head.units.end(), [&](int unit) {
    return !DirectOn({head.worker, CoreOf(head, unit).chip}).empty();
  });
}

bool BadChipRule::OnlyTheWordTells(const Head& of_host) const {
  if (!direct_of_.contains(of_host.worker)) return false;
  const auto chips = chips_of_heads_.find(of_host.worker);
  return chips != chips_of_heads_.end() && chips->second.size() > 1;
}

void BadChipRule::CollectChipsOfHeads() {
  for (const Head& head : c_.graph.heads) {
    for (int unit : head.units) chips_of_heads_[head.worker].insert(CoreOf(head, unit).chip);
  }
}

void BadChipRule::Report(Detail detail, const std::vector<const Head*>& heads) {
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kBadTpuChip;
  finding.detail = detail;
  finding.confidence = 1;
  finding.own = true;
  std::set<ChipKey> seen;
  for (const Head* head : heads) {
    finding.own = finding.own && (StandsByItself(*head) || HasDirect(*head));
    finding.confidence = std::min(finding.confidence, ConfidenceOf(*head));
    for (int unit : head->units) {
      const Core& core = CoreOf(*head, unit);
      const ChipKey key{head->worker, core.chip};
      // Two cores of one chip are one culprit; chips without a number stay apart.
      if (!seen.insert(key).second && core.chip.has_value()) continue;
      const CoreStands fact{head, &core};
      finding.culprits.push_back(CulpritCore(c_, head->worker, core, FactText(c_, fact)));
      finding.evidence.push_back(Evidence(c_, Strength::kStrong, fact));
      UseDirect(key, finding);
      if (c_.first_to_stop && c_.first_to_stop->unit == unit) AddWavefront(*head, core, finding);
    }
  }
  if (finding.culprits.empty()) return;
  if (finding.culprits.size() > kMostChipsAtOnce) {
    finding.confidence = std::min(finding.confidence, kConfidenceManyHeads);
    finding.own = false;
  }
  finding.explains = c_.graph.waiting;
  finding.why = finding.culprits.front().why;
  out_.Add(std::move(finding));
}

void BadChipRule::AddWavefront(const Head& head, const Core& core, Finding& finding) const {
  const CoreStoppedFirst fact{head.worker, &core, c_.first_to_stop->ahead_ms,
                              c_.first_to_stop->others};
  finding.evidence.push_back(Evidence(c_, Strength::kWeak, fact));
}

void BadChipRule::UseDirect(const ChipKey& key, Finding& finding) {
  for (const Direct& entry : DirectOn(key)) {
    const auto& [where, direct] = *entry;
    used_.insert(where);
    finding.evidence.push_back(Evidence(c_, Strength::kDirect, Words{key.first, direct.text}));
    finding.confidence = std::max(finding.confidence, kConfidenceDirectHardware);
    JudgeChipRemoval(c_, where, direct, finding);
  }
}

void BadChipRule::ByWord() {
  int findings = 0;
  for (const auto& [where, direct] : direct_) {
    if (used_.contains(where)) continue;
    if (++findings > kMaxFindingsByWord) return;
    const bool first = IsAmongFirst(where.first);
    Finding finding;
    finding.basis = Basis::kError;
    finding.own = true;
    finding.cause = Cause::kBadTpuChip;
    finding.detail = DetailOf(direct);
    finding.confidence = first ? kConfidenceDirectHardware - 0.02 : kConfidenceUnorderedErrors;
    const Words fact{where.first, direct.text};
    Culprit culprit = CulpritWorker(c_, where.first, FactText(c_, fact));
    culprit.chip = where.second;
    finding.culprits.push_back(std::move(culprit));
    finding.evidence.push_back(Evidence(c_, Strength::kDirect, fact));
    finding.explains = c_.graph.waiting;
    JudgeChipRemoval(c_, where, direct, finding);
    finding.why = finding.culprits.front().why;
    out_.Add(std::move(finding));
  }
}

bool BadChipRule::IsAmongFirst(int worker) const {
  const auto& roots = c_.timeline.roots;
  if (roots.empty()) return true;
  for (int i = 0; i < c_.timeline.first_count; ++i) {
    const int root = roots[static_cast<size_t>(i)];
    if (c_.timeline.errors[static_cast<size_t>(root)].worker == worker) return true;
  }
  return false;
}

}  // namespace

void FindBadChip(const Case& c, Findings& out) { BadChipRule(c, out).Apply(); }

}  // namespace rapideye::classifier
