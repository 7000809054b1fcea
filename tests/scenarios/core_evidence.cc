#include <algorithm>
#include <map>

#include "tests/scenarios/evidence.h"

namespace rapideye::scenarios {
namespace {

// Steps by which run ids grow from launch to launch.
constexpr int64_t kRunIdStride = 31;
constexpr int64_t kTracemarksPerTag = 16;

int64_t Polled(int64_t age_ms) { return std::max<int64_t>(0, age_ms) / kPollMs * kPollMs; }

template <typename List>
bool Contains(const List& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class CoreWriter {
 public:
  CoreWriter(const Scene& scene, int worker, Random& random, Snapshot& snapshot)
      : scene_(scene),
        job_(scene.plan.job),
        layout_(job_.layout),
        worker_(worker),
        random_(random),
        snapshot_(snapshot),
        run_id_base_(random.Between(10000, 500000)),
        idle_reports_last_(random.Chance(0.5)),
        sequencer_type_(layout_.generation == "v4" ? SequencerType::kSparseCoreV0Sequencer
                                                   : SequencerType::kSparseCoreSequencer) {}

  void Write();

 private:
  // Where a device stands in the sample of its worker.
  struct Standing {
    Arrival at;
    Instance instance;
    const Program* program = nullptr;  // null before the first launch
    const Op* op = nullptr;            // null between launches
    int64_t frozen_ms = 0;
    int64_t stuck_ms = 0;
  };
  Standing StandingOf(int device) const;
  int TableIndex(int program);
  void SetLaunch(const Standing& standing, Core& core);

  // Whether the device's host waits for input before the program's first operation.
  bool AtEntry(const Standing& standing) const;
  void WriteDevice(int device, int number);
  void WriteTensorCore(int device, int index, const Standing& standing);

  // Each agent polls at moments of its own.
  void AddStop(const Standing& standing, int64_t pc, int64_t tag, Core& core) const;
  void SetError(int device, Core& core) const;
  void AddQueue(const Standing& standing, Core& core);

  // The SparseCore of this device that broke where the device stands, or -1.
  int StuckSparseCore(int device, const Standing& standing) const;
  void WriteSparseCore(int device, int number, int index, const Standing& standing);
  bool Works(const Program& program, const Op& op, int number, int stuck) const;

  const Scene& scene_;
  const Job& job_;
  const Layout& layout_;
  const int worker_;
  Random& random_;
  Snapshot& snapshot_;
  const int64_t run_id_base_;
  const bool idle_reports_last_;
  const SequencerType sequencer_type_;
  std::map<int, int> table_;  // program -> index in the snapshot
};

void CoreWriter::Write() {
  const int first = layout_.FirstDevice(worker_);
  for (int i = 0; i < layout_.devices_per_worker(); ++i) WriteDevice(first + i, i);
}

CoreWriter::Standing CoreWriter::StandingOf(int device) const {
  const int64_t now = scene_.sampled_ms[static_cast<size_t>(worker_)];
  Standing standing;
  if (scene_.plan.nothing_launched) {
    standing.at = {-1, -1, 0};
    standing.frozen_ms = standing.stuck_ms = now;
    return standing;
  }
  standing.at = scene_.world.At(device, now);
  standing.frozen_ms = now - standing.at.at_ms;
  const int64_t completed = scene_.world.LastCompletion(device, now);
  standing.stuck_ms = completed < 0 ? now : now - completed;
  if (standing.at.launch >= 0) {
    standing.instance = scene_.world.InstanceAt(worker_, standing.at.launch);
    standing.program = &job_.programs[static_cast<size_t>(standing.instance.program)];
    if (standing.at.op >= 0) {
      standing.op = &standing.program->ops[static_cast<size_t>(standing.at.op)];
    }
  }
  return standing;
}

int CoreWriter::TableIndex(int program) {
  const auto [entry, added] =
      table_.try_emplace(program, static_cast<int>(snapshot_.programs.size()));
  if (added) {
    const Program& of = job_.programs[static_cast<size_t>(program)];
    snapshot_.programs.push_back({.module = of.module, .fingerprint = of.fingerprint});
  }
  return entry->second;
}

void CoreWriter::SetLaunch(const Standing& standing, Core& core) {
  core.program = TableIndex(standing.instance.program);
  core.launch_id = LaunchId(*standing.program, standing.instance.run);
}

bool CoreWriter::AtEntry(const Standing& standing) const {
  if (standing.op == nullptr || standing.at.op != 0 || standing.op->kind == OpKind::kInfeed) {
    return false;
  }
  const std::vector<EntryStall>& stalls = scene_.plan.faults.entry;
  return std::any_of(stalls.begin(), stalls.end(), [&](const EntryStall& stall) {
    return stall.worker == worker_ && stall.launch == standing.at.launch;
  });
}

void CoreWriter::WriteDevice(int device, int number) {
  const Standing standing = StandingOf(device);
  for (int i = 0; i < layout_.tensor_cores_per_device; ++i) {
    const int on_chip = layout_.devices_per_chip == 1 ? i : number % layout_.devices_per_chip;
    WriteTensorCore(device, on_chip, standing);
  }
  const int sparse = layout_.sparse_cores_per_device;
  for (int i = 0; i < sparse; ++i) {
    const int on_chip = number % layout_.devices_per_chip * sparse + i;
    WriteSparseCore(device, i, on_chip, standing);
  }
}

void CoreWriter::WriteTensorCore(int device, int index, const Standing& standing) {
  Core core{.chip = layout_.ChipOfDevice(device), .type = CoreType::kTensorCore, .index = index};
  Sequencer sequencer{.type = SequencerType::kTensorCoreSequencer,
                      .frozen_ms = Polled(standing.frozen_ms)};
  core.stuck_ms = Polled(standing.stuck_ms);
  if (standing.op == nullptr) {
    sequencer.pc = 0;
    sequencer.tag = 0;
    if (standing.program != nullptr && idle_reports_last_) SetLaunch(standing, core);
  } else {
    SetLaunch(standing, core);
    const bool entry = AtEntry(standing);
    sequencer.pc = entry ? 0 : standing.op->pc;
    sequencer.tag = entry ? 0 : standing.op->tag;
    sequencer.tracemark = *sequencer.tag * kTracemarksPerTag;
    sequencer.run_id = run_id_base_ + kRunIdStride * standing.at.launch;
    if (Contains(scene_.plan.looping_devices, device)) {
      *sequencer.pc += random_.Between(0, 70);
      sequencer.frozen_ms = 0;
    }
    if (StuckSparseCore(device, standing) < 0) SetError(device, core);
    AddQueue(standing, core);
  }
  if (scene_.wavefront_poll_ms) AddStop(standing, *sequencer.pc, *sequencer.tag, core);
  core.sequencers.push_back(std::move(sequencer));
  snapshot_.cores.push_back(std::move(core));
}

void CoreWriter::AddStop(const Standing& standing, int64_t pc, int64_t tag, Core& core) const {
  const int64_t poll = *scene_.wavefront_poll_ms;
  const int64_t phase = int64_t{1009} * worker_ % poll;
  const int64_t now = scene_.sampled_ms[static_cast<size_t>(worker_)];
  const int64_t stopped = now - standing.frozen_ms;
  const int64_t seen = (stopped - phase + poll - 1) / poll * poll + phase;
  Transition last{.age_ms = std::max<int64_t>(0, now - seen), .within_ms = poll};
  last.program = core.program;
  last.launch_id = core.launch_id;
  last.pc = pc;
  last.tag = tag;
  core.transitions.push_back(std::move(last));
}

void CoreWriter::SetError(int device, Core& core) const {
  if (Contains(scene_.plan.halted_devices, device)) {
    core.error = "INTERNAL: Core halted unexpectedly";
  }
}

void CoreWriter::AddQueue(const Standing& standing, Core& core) {
  const int64_t now = scene_.sampled_ms[static_cast<size_t>(worker_)];
  const int depth = static_cast<int>(random_.Between(1, 2));
  for (int launch = standing.at.launch + 1; launch <= standing.at.launch + depth; ++launch) {
    if (scene_.world.DispatchedAt(worker_, launch) > now) break;
    const Instance instance = scene_.world.InstanceAt(worker_, launch);
    const Program& program = job_.programs[static_cast<size_t>(instance.program)];
    core.queued.push_back({.program = TableIndex(instance.program),
                           .launch_id = LaunchId(program, instance.run),
                           .run_id = run_id_base_ + kRunIdStride * launch});
  }
}

int CoreWriter::StuckSparseCore(int device, const Standing& standing) const {
  for (const StuckDevice& stuck : scene_.plan.faults.stuck) {
    if (stuck.device == device && stuck.launch == standing.at.launch &&
        stuck.op == standing.at.op) {
      return stuck.sparse_core;
    }
  }
  return -1;
}

void CoreWriter::WriteSparseCore(int device, int number, int index, const Standing& standing) {
  Core core{.chip = layout_.ChipOfDevice(device),
            .type = layout_.generation == "v4" ? CoreType::kSparseCoreV0 : CoreType::kSparseCore,
            .index = index};
  Sequencer sequencer{.type = sequencer_type_, .pc = 0, .tag = 0};
  sequencer.frozen_ms = Polled(standing.frozen_ms);
  const int stuck = StuckSparseCore(device, standing);
  if (standing.op != nullptr && Works(*standing.program, *standing.op, number, stuck)) {
    SetLaunch(standing, core);
    core.stuck_ms = Polled(standing.stuck_ms);
    sequencer.pc = standing.op->sparse_pc;
    sequencer.tag = standing.op->tag;
    if (number == stuck) SetError(device, core);
    // A SparseCore that stopped never came to the place where its peers wait.
    if (number == stuck && standing.op->kind == OpKind::kCollective) *sequencer.pc -= 37;
  }
  core.sequencers.push_back(std::move(sequencer));
  snapshot_.cores.push_back(std::move(core));
}

bool CoreWriter::Works(const Program& program, const Op& op, int number, int stuck) const {
  if (op.kind == OpKind::kSparseWork) return stuck < 0 || number == stuck;
  return op.kind == OpKind::kCollective && program.sparse_collectives;
}

}  // namespace

void AddCores(const Scene& scene, int worker, Random random, Snapshot& snapshot) {
  CoreWriter(scene, worker, random, snapshot).Write();
}

}  // namespace rapideye::scenarios
