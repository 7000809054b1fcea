#include "classifier/decision/chain_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "classifier/host/host_place.h"
#include "classifier/host/start_up_stage.h"

namespace rapideye::classifier {
namespace {

// So many ends of broken links have a group each; all further ends share one group.
constexpr size_t kMaxLinkEnds = 6;

bool IsSparse(std::optional<CoreType> type) {
  return type == CoreType::kSparseCore || type == CoreType::kSparseCoreV0;
}

class GroupCollector {
 public:
  GroupCollector(const Case& c, const Verdict& verdict)
      : c_(c), verdict_(verdict), frame_(FrameOf(verdict)) {}

  std::vector<MemberGroup> Collect();

 private:
  void CollectCulprits();
  void BoxSides();
  void BoxLinkEnds(const std::set<int>& blamed);

  const std::vector<const Culprit*>& CulpritsOf(int worker) const {
    return culprits_[static_cast<size_t>(worker)];
  }

  // True if the verdict blames the worker as a whole, not one of its chips.
  bool IsBlamedWhole(int worker) const;
  bool IsBlamed(int unit) const;

  // True if the verdict names a SparseCore of the unit's chip.
  bool AwaitsSparse(int unit) const;
  void AddWorker(int worker);

  bool RestsOnCores() const {
    return verdict_.cause != Cause::kUnrecoverableError && verdict_.cause != Cause::kNoHang;
  }

  bool RunsAnything(int first, int last) const;
  static std::optional<WaitKind> StateOfProcess(const Snapshot* snapshot);
  ChainMembers& MembersOf(ChainKey key, int worker);

  bool IsHome(int worker) const { return home_.contains(c_.worker(worker).slice); }

  ChainMembers& AddWhole(int worker, WaitKind wait, std::string host, int cores);
  void AddByHost(int worker);
  bool AddByLog(int worker);
  void AddSparse(int worker);
  static WaitKind OfClass(HloClass hlo_class);

  // Follows the graph: in a slice that has a head, a core that is no head waits for that head,
  // whatever its instruction is called.
  WaitKind WaitOf(int unit) const;
  void AddUnit(int unit);

  const Case& c_;
  const Verdict& verdict_;
  const ChainFrame frame_;
  std::vector<std::vector<const Culprit*>> culprits_;  // per worker
  std::vector<int> boxes_;                             // per worker, as ChainKey::box
  std::vector<bool> head_units_;                       // of the graph
  std::set<int> home_;                                 // slices that hold an end
  std::map<ChainKey, ChainMembers> groups_;
  // The group of the member before, which the next one nearly always joins, too.
  std::pair<const ChainKey, ChainMembers>* last_ = nullptr;
};

std::vector<MemberGroup> GroupCollector::Collect() {
  CollectCulprits();
  for (int i = 0; i < static_cast<int>(c_.topology.workers().size()); ++i) AddWorker(i);
  std::vector<MemberGroup> collected;
  for (auto& [key, members] : groups_) collected.push_back({key, std::move(members)});
  return collected;
}

void GroupCollector::CollectCulprits() {
  const size_t workers = c_.topology.workers().size();
  culprits_.resize(workers);
  boxes_.assign(workers, kNoBox);
  head_units_.assign(c_.positions.units().size(), false);
  for (const Head& head : c_.graph.heads) {
    for (const int unit : head.units) head_units_[static_cast<size_t>(unit)] = true;
  }
  std::set<int> blamed;
  for (const Culprit& culprit : verdict_.culprits) {
    const int worker = c_.topology.Find(culprit.worker);
    if (worker < 0) continue;
    culprits_[static_cast<size_t>(worker)].push_back(&culprit);
    blamed.insert(worker);
  }
  if (frame_.cut) {
    BoxSides();
  } else if (!verdict_.links.empty()) {
    BoxLinkEnds(blamed);
  }
  for (const int worker : blamed) home_.insert(c_.worker(worker).slice);
}

void GroupCollector::BoxSides() {
  for (size_t side = 0; side < verdict_.partition.size(); ++side) {
    for (const WorkerId id : verdict_.partition[side]) {
      const int worker = c_.topology.Find(id);
      if (worker >= 0) boxes_[static_cast<size_t>(worker)] = static_cast<int>(side);
    }
  }
}

void GroupCollector::BoxLinkEnds(const std::set<int>& blamed) {
  std::set<int> peers;
  for (const BrokenLink& link : verdict_.links) {
    for (const WorkerId id : {link.from, link.to}) {
      const int worker = c_.topology.Find(id);
      if (worker >= 0 && !blamed.contains(worker)) peers.insert(worker);
    }
  }
  if (blamed.size() <= kMaxLinkEnds) {
    for (const int worker : blamed) boxes_[static_cast<size_t>(worker)] = worker;
  }
  for (const int worker : peers) {
    boxes_[static_cast<size_t>(worker)] = peers.size() <= kMaxLinkEnds ? worker : kAllPeers;
    home_.insert(c_.worker(worker).slice);
  }
}

bool GroupCollector::IsBlamedWhole(int worker) const {
  const auto& culprits = CulpritsOf(worker);
  return std::any_of(culprits.begin(), culprits.end(),
                     [](const Culprit* one) { return !one->chip && !one->core_index; });
}

bool GroupCollector::IsBlamed(int unit) const {
  const Unit& u = c_.positions.unit(unit);
  const auto& culprits = CulpritsOf(u.worker);
  return std::any_of(culprits.begin(), culprits.end(), [&](const Culprit* one) {
    if (IsSparse(one->core_type) || one->chip != u.core->chip) return false;
    return !one->core_index || *one->core_index == u.core->index ||
           head_units_[static_cast<size_t>(unit)];
  });
}

bool GroupCollector::AwaitsSparse(int unit) const {
  const Unit& u = c_.positions.unit(unit);
  const auto& culprits = CulpritsOf(u.worker);
  return std::any_of(culprits.begin(), culprits.end(), [&](const Culprit* one) {
    return IsSparse(one->core_type) && one->chip == u.core->chip;
  });
}

void GroupCollector::AddWorker(int worker) {
  const WorkerInfo& info = c_.worker(worker);
  const auto [first, last] = c_.positions.UnitsOf(worker);
  const bool launches = RunsAnything(first, last);
  const std::optional<WaitKind> state = StateOfProcess(info.snapshot);
  // After a runtime aborts on a hang, the places of its cores still show where they stood.
  if (state && !(state == WaitKind::kEnded && launches && RestsOnCores())) {
    AddWhole(worker, *state, "", last - first);
    return;
  }
  if (first == last || (frame_.starts && !launches) || (c_.logs != nullptr && !launches)) {
    AddByHost(worker);
    return;
  }
  AddSparse(worker);
  for (int unit = first; unit < last; ++unit) AddUnit(unit);
}

bool GroupCollector::RunsAnything(int first, int last) const {
  for (int i = first; i < last; ++i) {
    if (c_.positions.unit(i).state == UnitState::kRunning) return true;
  }
  return false;
}

std::optional<WaitKind> GroupCollector::StateOfProcess(const Snapshot* snapshot) {
  if (snapshot == nullptr) return WaitKind::kSilent;
  if (snapshot->processes.empty()) return std::nullopt;
  size_t ended = 0;
  for (const Process& process : snapshot->processes) {
    if (process.state == ProcessState::kStopped || IsFrozen(process)) return WaitKind::kStopped;
    const bool gone =
        process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
    ended += gone ? 1 : 0;
  }
  if (ended == snapshot->processes.size()) return WaitKind::kEnded;
  return std::nullopt;
}

ChainMembers& GroupCollector::MembersOf(ChainKey key, int worker) {
  key.box = frame_.diverged ? kNoBox : boxes_[static_cast<size_t>(worker)];
  if (frame_.cut && key.box != kNoBox) {
    // All members on one side of a cut form one group, wherever their cores stand.
    const int side = key.box;
    key = ChainKey();
    key.head = side == 0;
    key.box = side;
    key.home = true;
    key.wait = WaitKind::kMixed;
  }
  if (last_ == nullptr || last_->first != key) {
    last_ = &*groups_.try_emplace(std::move(key)).first;
  }
  ChainMembers& members = last_->second;
  members.AddWorker(worker, c_.worker(worker).slice);
  return members;
}

ChainMembers& GroupCollector::AddWhole(int worker, WaitKind wait, std::string host, int cores) {
  ChainKey key;
  key.head = !CulpritsOf(worker).empty();
  key.home = key.head;
  key.wait = wait;
  key.host = std::move(host);
  ChainMembers& members = MembersOf(std::move(key), worker);
  members.cores += cores;
  const Snapshot* snapshot = c_.worker(worker).snapshot;
  if (wait == WaitKind::kEnded && snapshot != nullptr) {
    members.Stood(snapshot->processes.front().exited_ms_ago);
  }
  return members;
}

void GroupCollector::AddByHost(int worker) {
  const auto [first, last] = c_.positions.UnitsOf(worker);
  const Snapshot& snapshot = *c_.worker(worker).snapshot;
  if (frame_.starts && snapshot.start_up.has_value()) {
    AddWhole(worker, WaitKind::kStarting, StageName(StageOf(*snapshot.start_up)), last - first);
    return;
  }
  if (c_.logs != nullptr && AddByLog(worker)) return;
  const std::optional<HostPlace> place = PlaceOfHost(snapshot);
  if (!place.has_value()) {
    const bool starts = snapshot.start_up.has_value() && !snapshot.start_up->launch_ms;
    AddWhole(worker, starts ? WaitKind::kStarting : WaitKind::kSilent,
             starts ? StageName(StageOf(*snapshot.start_up)) : "", last - first);
    return;
  }
  WaitKind wait = WaitKind::kHostWait;
  if (place->wait == HostWait::kNone) wait = WaitKind::kHostWork;
  if (place->wait == HostWait::kStartUp) wait = WaitKind::kStarting;
  AddWhole(worker, wait, place->where, last - first).Stood(place->since_ms);
}

bool GroupCollector::AddByLog(int worker) {
  const WorkerId id = c_.worker(worker).id;
  const auto& logs = c_.logs->workers;
  const auto log = std::find_if(logs.begin(), logs.end(),
                                [&](const WorkerLog& one) { return one.worker == id; });
  if (log == logs.end()) return false;
  WaitKind wait = WaitKind::kUnclear;
  std::string says = "its log says nothing of a wait";
  if (!log->retried.empty()) {
    wait = WaitKind::kHostWork;
    says = "its log ends with tries that fail";
  } else if (log->complaints.OfOwn()) {
    wait = WaitKind::kHostWait;
    says = !log->complaints.timed_out.empty() ? "its log says that a wait for others timed out"
           : !log->complaints.peer_gone.empty()
               ? "its log says that a peer closed its connection"
               : "its log says that the coordination service does not answer";
  }
  AddWhole(worker, wait, std::move(says), 0).Stood(log->last_line_ms);
  return true;
}

void GroupCollector::AddSparse(int worker) {
  const auto [first, last] = c_.positions.SparseOf(worker);
  for (const Culprit* one : CulpritsOf(worker)) {
    if (!IsSparse(one->core_type)) continue;
    for (int i = first; i < last; ++i) {
      const SparseUnit& sparse = c_.positions.sparse()[static_cast<size_t>(i)];
      if (sparse.core->chip != one->chip) continue;
      if (one->core_index && sparse.core->index != *one->core_index) continue;
      ChainKey key;
      key.head = true;
      key.home = true;
      key.wait = OfClass(c_.positions.place(sparse.place).hlo_class);
      key.program = c_.positions.place(sparse.place).program;
      key.launch = sparse.core->launch_id;
      key.place = sparse.place;
      ChainMembers& members = MembersOf(std::move(key), worker);
      ++members.cores;
      if (members.core == nullptr) members.core = sparse.core;
    }
  }
}

WaitKind GroupCollector::OfClass(HloClass hlo_class) {
  switch (hlo_class) {
    case HloClass::kCompute:
      return WaitKind::kCompute;
    case HloClass::kKernel:
      return WaitKind::kKernel;
    case HloClass::kInSliceWait:
      return WaitKind::kCollective;
    case HloClass::kCrossWait:
      return WaitKind::kTransfer;
    case HloClass::kInput:
      return WaitKind::kOwnHost;
    case HloClass::kSparseWait:
      return WaitKind::kSparseCore;
    case HloClass::kUnknown:
    case HloClass::kMaybeWait:
      break;
  }
  return WaitKind::kUnclear;
}

WaitKind GroupCollector::WaitOf(int unit) const {
  const Unit& u = c_.positions.unit(unit);
  if (u.state == UnitState::kIdle) return WaitKind::kIdle;
  if (u.state == UnitState::kEntry) return WaitKind::kOwnHost;
  if (u.state == UnitState::kUnclear) return WaitKind::kUnclear;
  const UnitWait& taken = c_.graph.unit_waits[static_cast<size_t>(unit)];
  const WaitKind wait =
      OfClass(taken.in_chain ? taken.hlo_class : c_.positions.place(u.place).hlo_class);
  if (!taken.in_chain || head_units_[static_cast<size_t>(unit)]) return wait;
  if (wait != WaitKind::kUnclear && wait != WaitKind::kCompute) return wait;
  const SliceView& view = c_.graph.slices[static_cast<size_t>(c_.worker(u.worker).slice)];
  if (view.state == SliceState::kHeaded) return WaitKind::kCollective;
  if (view.state == SliceState::kWaitsOutside && u.place == view.crowd_place) {
    return WaitKind::kTransfer;
  }
  return wait;
}

void GroupCollector::AddUnit(int unit) {
  const Unit& u = c_.positions.unit(unit);
  ChainKey key;
  key.head = IsBlamedWhole(u.worker) || IsBlamed(unit);
  key.home = IsHome(u.worker) && !frame_.diverged;
  key.program = u.program;
  if (frame_.diverged) {
    key.wait = WaitKind::kMixed;
    const auto worker = static_cast<size_t>(u.worker);
    const bool odd = c_.divergence.is_foreign[worker] || !CulpritsOf(u.worker).empty() ||
                     std::binary_search(c_.divergence.misordered.begin(),
                                        c_.divergence.misordered.end(), u.worker);
    key.head = odd;
  } else {
    key.wait = AwaitsSparse(unit) && !key.head ? WaitKind::kSparseCore : WaitOf(unit);
    if (key.head && verdict_.detail == Detail::kCoreHalt) key.wait = WaitKind::kHalted;
    key.place = u.place;
    if (verdict_.cause == Cause::kNoHang && u.state == UnitState::kRunning) {
      key.wait = WaitKind::kRunning;
      key.place = -1;
    }
    // The last program of an idle core does not tell for what the core waits.
    if (u.state == UnitState::kIdle) {
      key.program = -1;
    } else {
      key.launch = u.core->launch_id;
    }
  }
  ChainMembers& members = MembersOf(std::move(key), u.worker);
  ++members.cores;
  members.Stood(u.frozen_ms);
  members.MeetIn(c_.graph.unit_waits[static_cast<size_t>(unit)]);
  if (members.first_unit >= 0) return;
  members.first_unit = unit;
  members.core = u.core;
  members.at = c_.graph.unit_waits[static_cast<size_t>(unit)].at;
}

}  // namespace

ChainFrame FrameOf(const Verdict& verdict) {
  ChainFrame frame;
  frame.diverged =
      verdict.cause == Cause::kDifferentModule || verdict.cause == Cause::kFingerprintMismatch;
  frame.cut = !verdict.partition[0].empty();
  frame.starts = verdict.detail == Detail::kNotStarted ||
                 verdict.detail == Detail::kDeviceUnavailable ||
                 verdict.detail == Detail::kConfiguration || verdict.detail == Detail::kStarting;
  return frame;
}

std::vector<MemberGroup> CollectGroups(const Case& c, const Verdict& verdict) {
  return GroupCollector(c, verdict).Collect();
}

}  // namespace rapideye::classifier
