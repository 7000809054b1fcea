#include "digest/tpu_states.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

using GroupKey = std::tuple<std::optional<int32_t>, std::optional<std::string>,
                            std::optional<std::string>>;  // launch, module, fingerprint
using TagAndPc = std::tuple<std::optional<int64_t>, std::optional<int64_t>>;  // tag, pc
using PositionKey = std::tuple<TagAndPc, std::optional<std::string>>;         // place, hlo
using PlaceInProgram = std::tuple<std::string, CoreType, TagAndPc>;  // fingerprint, type, place

// Facts that one worker reported and that hold for all with the same program.
struct Shared {
  std::map<std::string, std::string> module_of;  // by fingerprint
  std::map<PlaceInProgram, std::string> hlo_of;
};

struct Cell {
  std::vector<CoreAt> cores;
  bool idle = true;
  bool culprit = false;
};
using Table = std::map<GroupKey, std::map<PositionKey, Cell>>;

const Program* ProgramOf(const Snapshot& snapshot, const Core& core) {
  if (!core.program || *core.program < 0) return nullptr;
  const auto index = static_cast<size_t>(*core.program);
  return index < snapshot.programs.size() ? &snapshot.programs[index] : nullptr;
}

TagAndPc PlaceOf(const Core& core) {
  const Sequencer* sequencer = MainSequencer(core);
  return sequencer ? TagAndPc{sequencer->tag, sequencer->pc} : TagAndPc{};
}

// Where workers contradict each other the smaller name stands, so that the
// order of arrival changes nothing.
template <typename Map, typename Key>
void KeepSmallest(Map& map, Key key, const std::string& value) {
  auto [it, inserted] = map.try_emplace(std::move(key), value);
  if (!inserted && value < it->second) it->second = value;
}

Shared GatherShared(const Capture& capture) {
  Shared shared;
  for (const Snapshot& snapshot : capture.snapshots) {
    for (const Program& program : snapshot.programs) {
      if (program.module) KeepSmallest(shared.module_of, program.fingerprint, *program.module);
    }
    for (const Core& core : snapshot.cores) {
      const Program* program = ProgramOf(snapshot, core);
      const Sequencer* sequencer = MainSequencer(core);
      if (program && sequencer && sequencer->hlo) {
        KeepSmallest(shared.hlo_of, PlaceInProgram{program->fingerprint, core.type, PlaceOf(core)},
                     *sequencer->hlo);
      }
    }
  }
  return shared;
}

GroupKey GroupOf(const Program* program, const Core& core, const Shared& shared) {
  GroupKey key;
  std::get<0>(key) = core.launch_id;
  if (!program) return key;
  std::optional<std::string> module = program->module;
  if (!module) {
    auto known = shared.module_of.find(program->fingerprint);
    if (known != shared.module_of.end()) module = known->second;
  }
  if (module) std::get<1>(key) = text::ValidUtf8(*module, text::kMaxNameBytes);
  std::get<2>(key) = text::ValidUtf8(program->fingerprint, text::kMaxNameBytes);
  return key;
}

PositionKey PositionOf(const Program* program, const Core& core, const Shared& shared) {
  const Sequencer* sequencer = MainSequencer(core);
  const TagAndPc place = PlaceOf(core);
  std::optional<std::string> hlo = sequencer ? sequencer->hlo : std::nullopt;
  if (program && !hlo) {
    auto known = shared.hlo_of.find(PlaceInProgram{program->fingerprint, core.type, place});
    if (known != shared.hlo_of.end()) hlo = known->second;
  }
  if (hlo) hlo = text::ValidUtf8(*hlo, text::kMaxNameBytes);
  return {place, hlo};
}

// Pc 0 with nothing queued. A core that reports no pc is not known to be idle.
bool Idle(const Core& core) { return std::get<1>(PlaceOf(core)) == 0 && core.queued.empty(); }

std::optional<size_t> WorkerIndex(const std::vector<ReportWorker>& workers, WorkerId id) {
  auto it = std::lower_bound(workers.begin(), workers.end(), id,
                             [](const ReportWorker& w, WorkerId want) { return w.id < want; });
  if (it == workers.end() || it->id != id) return std::nullopt;
  return static_cast<size_t>(it - workers.begin());
}

Table Tabulate(const Capture& capture, const std::vector<ReportWorker>& workers,
               const std::vector<Culprit>& culprits) {
  const Shared shared = GatherShared(capture);
  std::map<WorkerId, std::vector<const Culprit*>> accused;
  for (const Culprit& culprit : culprits) accused[culprit.worker].push_back(&culprit);

  Table table;
  for (const Snapshot& snapshot : capture.snapshots) {
    const std::optional<size_t> worker = WorkerIndex(workers, snapshot.worker);
    if (!worker) continue;
    auto suspects = accused.find(snapshot.worker);
    for (const Core& core : snapshot.cores) {
      const Program* program = ProgramOf(snapshot, core);
      Cell& cell = table[GroupOf(program, core, shared)][PositionOf(program, core, shared)];
      CoreAt at{*worker, core.chip, core.type, core.index, false};
      if (suspects != accused.end()) {
        at.culprit = std::any_of(suspects->second.begin(), suspects->second.end(),
                                 [&](const Culprit* c) { return Means(*c, core); });
      }
      cell.culprit = cell.culprit || at.culprit;
      cell.idle = cell.idle && Idle(core);
      cell.cores.push_back(at);
    }
  }
  return table;
}

void SortCores(std::vector<CoreAt>& cores) {
  std::sort(cores.begin(), cores.end(), [](const CoreAt& a, const CoreAt& b) {
    return std::tie(a.worker, a.chip, a.type, a.index) <
           std::tie(b.worker, b.chip, b.type, b.index);
  });
}

// Largest first; equally large ones by their keys.
bool PositionFirst(const Position& a, const Position& b) {
  if (a.cores.size() != b.cores.size()) return a.cores.size() > b.cores.size();
  return std::tie(a.tag, a.pc, a.hlo) < std::tie(b.tag, b.pc, b.hlo);
}

bool GroupFirst(const ProgramGroup& a, const ProgramGroup& b) {
  const bool a_runs = a.fingerprint.has_value();
  if (a_runs != b.fingerprint.has_value()) return a_runs;
  if (a.cores != b.cores) return a.cores > b.cores;
  return std::tie(a.launch_id, a.module, a.fingerprint) <
         std::tie(b.launch_id, b.module, b.fingerprint);
}

}  // namespace

bool Means(const Culprit& culprit, const Core& core) {
  if (culprit.chip && culprit.chip != core.chip) return false;
  const CoreType type = culprit.core_type.value_or(CoreType::kUnspecified);
  if (type != CoreType::kUnspecified && type != core.type) return false;
  if (culprit.core_index) return *culprit.core_index == core.index;
  const bool sparse = core.type == CoreType::kSparseCore || core.type == CoreType::kSparseCoreV0;
  return !(sparse && Idle(core));
}

const Sequencer* MainSequencer(const Core& core) {
  const auto rank = [](const Sequencer& s) {
    switch (s.type) {
      case SequencerType::kTensorCoreSequencer:
      case SequencerType::kSparseCoreSequencer:
      case SequencerType::kSparseCoreV0Sequencer:
        return 0;
      case SequencerType::kSparseCoreV0AddressHandler:
      case SequencerType::kSparseCoreTileAccessCoreSequencer:
      case SequencerType::kSparseCoreTileExecuteCoreSequencer:
        return 1;
      case SequencerType::kUnspecified:
        return 2;
    }
    return 2;
  };
  const auto order = [&](const Sequencer& a, const Sequencer& b) {
    return std::make_tuple(rank(a), a.type, a.index, a.tag, a.pc, a.hlo) <
           std::make_tuple(rank(b), b.type, b.index, b.tag, b.pc, b.hlo);
  };
  auto it = std::min_element(core.sequencers.begin(), core.sequencers.end(), order);
  return it == core.sequencers.end() ? nullptr : &*it;
}

std::vector<ProgramGroup> GroupTpuStates(const Capture& capture,
                                         const std::vector<ReportWorker>& workers,
                                         const std::vector<Culprit>& culprits) {
  std::vector<ProgramGroup> groups;
  for (auto& [group_key, cells] : Tabulate(capture, workers, culprits)) {
    ProgramGroup group;
    std::tie(group.launch_id, group.module, group.fingerprint) = group_key;
    for (auto& [key, cell] : cells) {
      Position position;
      const auto& [place, hlo] = key;
      std::tie(position.tag, position.pc) = place;
      position.hlo = hlo;
      position.idle = cell.idle;
      position.culprit = cell.culprit;
      position.cores = cell.cores;
      SortCores(position.cores);
      group.cores += position.cores.size();
      group.culprit = group.culprit || position.culprit;
      group.positions.push_back(std::move(position));
    }
    std::sort(group.positions.begin(), group.positions.end(), PositionFirst);
    groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end(), GroupFirst);
  return groups;
}

}  // namespace rapideye::digest
