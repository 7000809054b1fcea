#include "classifier/positions.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rapideye::classifier {

const Sequencer* MainSequencer(const Core& core) {
  const Sequencer* best = nullptr;
  auto rank = [](const Sequencer& s) {
    const bool own = s.type == SequencerType::kTensorCoreSequencer ||
                     s.type == SequencerType::kSparseCoreSequencer ||
                     s.type == SequencerType::kSparseCoreV0Sequencer;
    return std::tuple(!own, static_cast<int>(s.type), s.index);
  };
  for (const Sequencer& sequencer : core.sequencers) {
    if (best == nullptr || rank(sequencer) < rank(*best)) best = &sequencer;
  }
  return best;
}

bool IsMoving(const Unit& unit) {
  return unit.frozen_ms && unit.stuck_ms && *unit.stuck_ms > 0 &&
         *unit.frozen_ms < *unit.stuck_ms / 4;
}

namespace {

bool IsSparse(const Core& core) {
  return core.type == CoreType::kSparseCore || core.type == CoreType::kSparseCoreV0;
}

// A total order of a worker's cores by what they are and show, so that the order
// of reporting cannot matter.
auto CoreRank(const Core& core) {
  const Sequencer* s = MainSequencer(core);
  return std::tuple(core.chip, core.index, core.program.has_value(), core.launch_id,
                    s == nullptr ? std::nullopt : s->tag, s == nullptr ? std::nullopt : s->pc);
}

std::vector<const Core*> SortedCores(const Snapshot& snapshot) {
  std::vector<const Core*> cores;
  cores.reserve(snapshot.cores.size());
  for (const Core& core : snapshot.cores) cores.push_back(&core);
  std::stable_sort(cores.begin(), cores.end(),
                   [](const Core* a, const Core* b) { return CoreRank(*a) < CoreRank(*b); });
  return cores;
}

UnitState StateOf(const Core& core, const Sequencer* sequencer) {
  const std::optional<int64_t> pc = sequencer == nullptr ? std::nullopt : sequencer->pc;
  if (pc.has_value() && *pc != 0) return UnitState::kRunning;
  if (pc.has_value()) return core.queued.empty() ? UnitState::kIdle : UnitState::kEntry;
  // Without a pc only a core that shows no work at all is known to be idle.
  if (core.queued.empty() && !core.program.has_value() && !core.launch_id.has_value()) {
    return UnitState::kIdle;
  }
  return UnitState::kUnclear;
}

// Where a core is in its cohort's order, doubled (see Unit::at).
std::optional<int64_t> AtOf(const ProgramOrder& order, const std::vector<Launch>& chain,
                            UnitState state) {
  const std::optional<int64_t> own = order.Ordinal(chain.front());
  if (state == UnitState::kEntry) {
    if (own.has_value()) return 2 * *own;
    const auto next = chain.size() > 1 ? order.Ordinal(chain[1]) : std::nullopt;
    return next.has_value() ? std::optional(2 * *next - 1) : std::nullopt;
  }
  if (!own.has_value()) return std::nullopt;
  return state == UnitState::kIdle ? 2 * *own + 1 : 2 * *own;
}

}  // namespace

Positions::Positions(const Topology& topology) : topology_(topology) {
  const size_t workers = topology.workers().size();
  first_unit_.reserve(workers + 1);
  first_sparse_.reserve(workers + 1);
  for (size_t i = 0; i < workers; ++i) {
    first_unit_.push_back(static_cast<int>(units_.size()));
    first_sparse_.push_back(static_cast<int>(sparse_.size()));
    AddWorker(static_cast<int>(i));
  }
  first_unit_.push_back(static_cast<int>(units_.size()));
  first_sparse_.push_back(static_cast<int>(sparse_.size()));
  NameHlo();
  ClassifyByText();
  FoldSiblings();
}

std::pair<int, int> Positions::UnitsOf(int worker) const {
  const auto i = static_cast<size_t>(worker);
  return {first_unit_[i], first_unit_[i + 1]};
}

std::pair<int, int> Positions::SparseOf(int worker) const {
  const auto i = static_cast<size_t>(worker);
  return {first_sparse_[i], first_sparse_[i + 1]};
}

int Positions::InternPlace(const Place& place) {
  auto [it, added] =
      place_index_.try_emplace(PlaceKey{place.program, place.tag, place.pc, place.core_type},
                               static_cast<int>(places_.size()));
  if (added) places_.push_back(place);
  return it->second;
}

void Positions::AddWorker(int worker) {
  const WorkerInfo& info = topology_.worker(worker);
  if (info.snapshot == nullptr || info.standby) return;
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(info.cohort)].order;
  for (const Core* core : SortedCores(*info.snapshot)) {
    const Sequencer* sequencer = MainSequencer(*core);
    const UnitState state = StateOf(*core, sequencer);
    const int program = topology_.ProgramOf(worker, *core);
    int place = -1;
    if (state == UnitState::kRunning) {
      Place where;
      where.program = program;
      where.tag = sequencer->tag;
      where.pc = *sequencer->pc;
      where.core_type = IsSparse(*core) ? CoreType::kSparseCore : CoreType::kTensorCore;
      place = InternPlace(where);
    }
    if (IsSparse(*core)) {
      // Idle, or nothing known: normal for a SparseCore.
      if (state == UnitState::kRunning) sparse_.push_back({worker, core, place});
      continue;
    }
    Unit unit;
    unit.worker = worker;
    unit.core = core;
    unit.state = state;
    unit.program = program;
    unit.place = place;
    unit.at = AtOf(order, topology_.Chain(worker, *core), state);
    if (sequencer != nullptr) unit.frozen_ms = sequencer->frozen_ms;
    unit.stuck_ms = core->stuck_ms;
    units_.push_back(unit);
  }
}

// HLO seen at one core holds for every core at the same fingerprint, tag and pc.
void Positions::NameHlo() {
  std::map<int, std::map<std::string_view, int>> seen;
  auto look = [&](const Core& core, int place) {
    const Sequencer* sequencer = MainSequencer(core);
    if (place < 0 || sequencer == nullptr || !sequencer->hlo.has_value()) return;
    if (!sequencer->hlo->empty()) ++seen[place][*sequencer->hlo];
  };
  for (const Unit& unit : units_) look(*unit.core, unit.place);
  for (const SparseUnit& unit : sparse_) look(*unit.core, unit.place);
  for (const auto& [place, names] : seen) {
    Place& where = places_[static_cast<size_t>(place)];
    int best = 0;
    bool contradicted = false;
    for (const auto& [name, count] : names) {
      contradicted = contradicted || ClassifyHlo(name) != ClassifyHlo(names.begin()->first);
      if (count > best) {
        best = count;
        where.hlo = name;
      }
    }
    where.hlo_class = contradicted ? HloClass::kUnknown : ClassifyHlo(where.hlo);
  }
}

// What the text of the program says at one core holds for all, and more than any name.
void Positions::ClassifyByText() {
  std::map<int, std::map<HloClass, int>> seen;
  const auto look = [&seen](const Core& core, int place) {
    const Sequencer* sequencer = MainSequencer(core);
    if (place < 0 || sequencer == nullptr || !sequencer->hlo_waits.has_value()) return;
    const HloClass told = ClassifyHlo(*sequencer->hlo_waits);
    if (told != HloClass::kUnknown) ++seen[place][told];
  };
  for (const Unit& unit : units_) look(*unit.core, unit.place);
  for (const SparseUnit& unit : sparse_) look(*unit.core, unit.place);
  for (const auto& [place, classes] : seen) {
    Place& where = places_[static_cast<size_t>(place)];
    where.hlo_class = classes.size() == 1 ? classes.begin()->first : HloClass::kUnknown;
    where.by_text = true;
  }
}

// On v4 and v5p the TensorCores of a chip run one program together: while one is
// stuck its sibling waits, so the chip counts once, and the odd one speaks for it.
void Positions::FoldSiblings() {
  const auto& generation = topology_.capture().header.generation;
  if (generation != "v4" && generation != "v5p") return;
  std::map<std::tuple<int, std::optional<int64_t>, int>, int> cluster;
  auto crowd_key = [&](const Unit& unit) {
    return std::tuple(topology_.worker(unit.worker).slice, unit.at, unit.place);
  };
  for (const Unit& unit : units_) ++cluster[crowd_key(unit)];
  std::vector<Unit> folded;
  std::vector<int> first;
  for (size_t worker = 0; worker + 1 < first_unit_.size(); ++worker) {
    first.push_back(static_cast<int>(folded.size()));
    const size_t begin = folded.size();
    for (int i = first_unit_[worker]; i < first_unit_[worker + 1]; ++i) {
      const Unit& unit = units_[static_cast<size_t>(i)];
      const bool sibling = folded.size() > begin && unit.core->chip.has_value() &&
                           folded.back().core->chip == unit.core->chip;
      if (!sibling) {
        folded.push_back(unit);
      } else if (cluster[crowd_key(unit)] < cluster[crowd_key(folded.back())]) {
        folded.back() = unit;
      }
    }
  }
  first.push_back(static_cast<int>(folded.size()));
  units_ = std::move(folded);
  first_unit_ = std::move(first);
}

}  // namespace rapideye::classifier
