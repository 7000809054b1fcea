// Input stalls if all other cores wait for a host that has no work for its chips: its
// cores are idle with nothing queued while others stand in a launch it never got,
// or they were launched and wait for their host (infeed, arguments outstanding).
//
// A host is told from a chip by number: a host holds up all its cores at one
// place. INPUT_PIPELINE if it is seen waiting for input, or its cores are at an
// infeed; otherwise PROGRAM_NOT_QUEUED. Hosts that ran out of queued work behind
// a fault are no heads of the chain and never reach this rule.
//
// Facts: queues and launch ids of the runtime's status service; the training loop's
// progress page; stacks of data loaders in use with JAX.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/host/host_place.h"
#include "classifier/host/pause.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// Adds the activities of the culprits' hosts, by stacks and pages. A loop that waits for its
// device waits for launches that it queued before: that is no activity of its own.
void AddActivities(const Case& c, std::vector<Culprit>& culprits) {
  for (Culprit& culprit : culprits) {
    const int worker = c.topology.Find(culprit.worker);
    const Snapshot* snapshot = worker < 0 ? nullptr : c.worker(worker).snapshot;
    if (snapshot == nullptr) continue;
    const std::optional<HostPlace> place = PlaceOfHost(*snapshot);
    if (!place.has_value() || place->wait == HostWait::kDevice) continue;
    culprit.host_activity = place->activity;
    // Frames of unknown libraries are those of the program itself, whose activity its page tells.
    if (place->activity != HostActivity::kOther) continue;
    if (place->phase == Phase::kCheckpoint) culprit.host_activity = HostActivity::kCheckpointSave;
    if (place->phase == Phase::kCompile) culprit.host_activity = HostActivity::kCompilation;
  }
}

// True if the loop has announced a pause that lasted longer than such a pause may.
bool PausesTooLong(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  if (snapshot == nullptr || !snapshot->progress.has_value()) return false;
  const Progress& progress = *snapshot->progress;
  return AnnouncesPause(progress.phase) &&
         (c.capture.header.announced_pause_ms.has_value() ||
          progress.phase_ms.value_or(0) >= c.ExcusedMs(progress.phase));
}

bool WaitsAtBarrier(const Case& c, int worker) {
  const Snapshot* snapshot = c.worker(worker).snapshot;
  const auto place = snapshot == nullptr ? std::nullopt : PlaceOfHost(*snapshot);
  return place.has_value() && place->by_stack && place->wait == HostWait::kBarrier;
}

// The head has begun its launch, and waits in the middle of it for its process: at a callback, a
// debug print, a transfer to its host's memory.
bool WithinItsHost(const Case& c, const Head& head) {
  const Place* place = c.PlaceOf(head);
  return head.kind == HeadKind::kInput && place != nullptr &&
         place->hlo_class == HloClass::kInput &&
         place->hlo.find("infeed") == std::string_view::npos &&
         place->hlo.find("parameter") == std::string_view::npos;
}

class DataStallRule {
 public:
  DataStallRule(const Case& c, Findings& out);
  void Apply();

 private:
  void AddHead(const Head& head);

  // True if the head is in another program than most of its slice, or at a wait within the slice:
  // then it is in a collective that the others are not in.
  bool WaitsElsewhere(const Head& head) const;

  // True if the head stands further on in the code: pcs are a weak order, but a host that owes
  // its cores something is seldom ahead of the cores that wait for it.
  bool PastItsPeers(const Head& head) const;

  // Names a worker without known cores if no head holds its slice up and its host
  // says that it has waited for input for as long as the job stands.
  void UnseenCores();

  // No core waits for another: nothing is queued anywhere, or all stand at one
  // place that is no known wait. Then only the reports of hosts remain as evidence.
  void WholeJob();

  const Case& c_;
  Findings& out_;
  Finding finding_;
};

DataStallRule::DataStallRule(const Case& c, Findings& out) : c_(c), out_(out) {
  finding_.basis = Basis::kPosition;
  finding_.cause = Cause::kDataInputStall;
  finding_.detail = Detail::kProgramNotQueued;
  finding_.confidence = 1;
}

void DataStallRule::Apply() {
  if (MostWaitAtBarrier(c_)) return;  // the places of hosts show who is not there
  const auto at_barrier = [this](const Head& head) {
    return head.kind == HeadKind::kIdle && WaitsAtBarrier(c_, head.worker);
  };
  const bool others = std::any_of(
      c_.graph.heads.begin(), c_.graph.heads.end(),
      [&](const Head& head) { return head.kind != HeadKind::kCrossWait && !at_barrier(head); });
  for (const Head& head : c_.graph.heads) {
    // A host at a barrier waits for the others.
    if (!others || !at_barrier(head)) AddHead(head);
  }
  if (finding_.culprits.empty()) UnseenCores();
  if (finding_.culprits.empty()) WholeJob();
  if (finding_.culprits.empty()) return;
  finding_.explains = c_.graph.waiting;
  finding_.why = finding_.culprits.front().why;
  AddActivities(c_, finding_.culprits);
  finding_.own = finding_.confidence >= kConfidenceInputSeen;
  if (finding_.detail == Detail::kInputPipeline) {
    for (Culprit& culprit : finding_.culprits) {
      if (!culprit.host_activity.has_value()) culprit.host_activity = HostActivity::kInput;
    }
  }
  out_.Add(std::move(finding_));
}

void DataStallRule::AddHead(const Head& head) {
  if (IsStuckInKernel(c_, head.worker)) return;
  const std::string seen = InputWaitSeen(c_, head.worker);
  double confidence = 0;
  switch (head.kind) {
    case HeadKind::kIdle:
      confidence = seen.empty() ? kConfidenceNotQueued : kConfidenceInputSeen;
      break;
    case HeadKind::kInput:
      confidence = seen.empty() ? kConfidenceEntryByHlo : kConfidenceInputSeen;
      break;
    case HeadKind::kLaggard:
    case HeadKind::kElsewhere:
      if (!head.whole_host) return;
      if (seen.empty() && WaitsElsewhere(head)) return;
      // Peers cannot pass a launch that was never begun: a host behind them may as well have
      // been given another order of launches.
      confidence = !seen.empty()        ? kConfidenceInputSeen - 0.04
                   : head.behind        ? kConfidenceHostBehind
                   : PastItsPeers(head) ? kConfidencePastByPlace
                                        : kConfidenceEntryByPlace;
      // A host whose pc moves, however slowly, is not at an infeed.
      if (seen.empty() && head.moving) confidence -= kConfidenceLoopPenalty;
      break;
    case HeadKind::kCompute:
    case HeadKind::kSparse:
    case HeadKind::kCrossWait:
      return;
  }
  EvidenceItem owes = Evidence(c_, Strength::kStrong, HostOwes{&head});
  std::string text = owes.statement;
  finding_.evidence.push_back(std::move(owes));
  if (!seen.empty()) {
    finding_.evidence.push_back(Evidence(c_, Strength::kStrong, AwaitsInput{head.worker, seen}));
  }
  if (PausesTooLong(c_, head.worker)) {
    finding_.evidence.push_back(Evidence(c_, Strength::kStrong, PauseTooLong{head.worker}));
  }
  // The launch was queued, so only its input is outstanding.
  if (!seen.empty() || (head.kind != HeadKind::kIdle && !WithinItsHost(c_, head))) {
    finding_.detail = Detail::kInputPipeline;
  }
  finding_.confidence = std::min(finding_.confidence, confidence);
  const bool again =
      !finding_.culprits.empty() && finding_.culprits.back().worker == c_.worker(head.worker).id;
  if (!again) finding_.culprits.push_back(CulpritWorker(c_, head.worker, std::move(text)));
}

bool DataStallRule::WaitsElsewhere(const Head& head) const {
  const Place* place = c_.PlaceOf(head);
  if (place == nullptr) return false;
  const SliceView& view = c_.graph.slices[static_cast<size_t>(c_.worker(head.worker).slice)];
  const bool other_program = view.crowd_place >= 0 && place->program >= 0 &&
                             c_.positions.place(view.crowd_place).program != place->program;
  return other_program || place->hlo_class == HloClass::kInSliceWait;
}

bool DataStallRule::PastItsPeers(const Head& head) const {
  const SliceView& view = c_.graph.slices[static_cast<size_t>(c_.worker(head.worker).slice)];
  const Place* place = c_.PlaceOf(head);
  if (place == nullptr || view.crowd_place < 0) return false;
  const Place& crowd = c_.positions.place(view.crowd_place);
  // With stages of a pipeline, the head may be at a transfer from another stage.
  const bool stages =
      std::any_of(c_.graph.slices.begin(), c_.graph.slices.end(), [&](const SliceView& other) {
        return other.crowd_place >= 0 &&
               c_.positions.place(other.crowd_place).program != crowd.program;
      });
  if (stages) return true;
  return std::pair(crowd.tag, crowd.pc) < std::pair(place->tag, place->pc);
}

void DataStallRule::UnseenCores() {
  const bool headed =
      std::any_of(c_.graph.heads.begin(), c_.graph.heads.end(),
                  [](const Head& head) { return head.kind != HeadKind::kCrossWait; });
  if (headed || !c_.divergence.foreign.empty()) return;
  for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) {
    const auto [first, last] = c_.positions.UnitsOf(i);
    const WorkerInfo& worker = c_.worker(i);
    if (worker.snapshot == nullptr || worker.standby || first != last) continue;
    const SliceView& view = c_.graph.slices[static_cast<size_t>(worker.slice)];
    const std::string seen = InputWaitSeen(c_, i);
    if (seen.empty() || view.running == 0) continue;
    Accuse(c_, Strength::kStrong, AwaitsInput{i, seen, /*unseen=*/true}, finding_);
    finding_.detail = Detail::kInputPipeline;
    finding_.confidence = kConfidenceInputUnseenCores;
  }
}

void DataStallRule::WholeJob() {
  if (!c_.graph.heads.empty()) return;
  bool alike = true;  // all stand at one place, or no core runs
  const SliceView* known = nullptr;
  for (const SliceView& view : c_.graph.slices) {
    alike = alike && (view.running == 0 || view.idle == 0) && view.cluster == view.running;
    if (view.running + view.idle > 0) {
      alike = alike && (known == nullptr || known->crowd_place == view.crowd_place);
      known = &view;
    }
    if (view.state != SliceState::kIdle && view.state != SliceState::kUnclear &&
        view.state != SliceState::kEmpty) {
      return;
    }
  }
  std::vector<int> seen;
  std::vector<int> all;
  int telling = 0;
  for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c_.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    const auto [first, last] = c_.positions.UnitsOf(i);
    if (first == last) continue;
    all.push_back(i);
    if (snapshot->progress.has_value()) ++telling;
    if (!InputWaitSeen(c_, i).empty()) seen.push_back(i);
  }
  if (seen.empty()) return;
  // If most hosts with a page wait for input, and the cores of the others stand alike,
  // hosts without a page wait for input as well.
  const bool everyone = alike && 2 * static_cast<int>(seen.size()) >= telling;
  const std::vector<int>& culprits = everyone ? all : seen;
  finding_.detail = Detail::kInputPipeline;
  finding_.confidence = kConfidenceAllIdle;
  for (int worker : seen) {
    const std::string wait = InputWaitSeen(c_, worker);
    finding_.evidence.push_back(Evidence(c_, Strength::kStrong, AwaitsInput{worker, wait}));
    if (finding_.evidence.size() >= kMaxEvidence) break;
  }
  for (int worker : culprits) {
    finding_.culprits.push_back(CulpritWorker(c_, worker, FactText(c_, AwaitsInput{worker, {}})));
  }
}

}  // namespace

void FindDataStall(const Case& c, Findings& out) { DataStallRule(c, out).Apply(); }

}  // namespace rapideye::classifier
