#include "classifier/job/positions.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "classifier/hlo/instruction.h"
#include "classifier/hlo/waits.h"

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

bool IsMoving(std::optional<int64_t> frozen_ms, std::optional<int64_t> stuck_ms) {
  return frozen_ms && stuck_ms && *stuck_ms > 0 && *frozen_ms < *stuck_ms / 4;
}

bool IsMoving(const Unit& unit) { return IsMoving(unit.frozen_ms, unit.stuck_ms); }

namespace {

bool IsSparse(const Core& core) {
  return core.type == CoreType::kSparseCore || core.type == CoreType::kSparseCoreV0;
}

// A total order of a worker's cores by their identity and their state, so that the order
// of reporting cannot matter.
bool IsBefore(const SeatedCore& a, const SeatedCore& b) {
  if (a.chip != b.chip) return a.chip < b.chip;
  if (a.sparse != b.sparse) return b.sparse;
  if (a.index != b.index) return a.index < b.index;
  const bool runs = a.core->program.has_value();
  if (runs != b.core->program.has_value()) return !runs;
  if (a.core->launch_id != b.core->launch_id) return a.core->launch_id < b.core->launch_id;
  const auto tag = [](const SeatedCore& one) {
    return one.sequencer == nullptr ? std::nullopt : one.sequencer->tag;
  };
  return std::tuple(tag(a), a.pc) < std::tuple(tag(b), b.pc);
}

// Fills `sorted`, whose memory serves one worker after the other: a job may have 300,000 cores.
void SortCores(const Snapshot& snapshot, std::vector<SeatedCore>& sorted) {
  sorted.clear();
  for (const Core& core : snapshot.cores) {
    const Sequencer* sequencer = MainSequencer(core);
    // Read here, because a processor fetches the sequencers of several cores at a time.
    const auto pc = sequencer == nullptr ? std::nullopt : sequencer->pc;
    sorted.push_back({core.chip, IsSparse(core), core.index, pc, &core, sequencer});
  }
  // Agents report the cores of a chip in this order.
  constexpr size_t kFewCores = 64;
  if (sorted.size() > kFewCores) {
    std::stable_sort(sorted.begin(), sorted.end(), IsBefore);
    return;
  }
  for (auto it = sorted.begin(); it != sorted.end(); ++it) {
    if (it == sorted.begin() || !IsBefore(*it, *std::prev(it))) continue;
    const auto place = std::upper_bound(sorted.begin(), it, *it, IsBefore);
    std::rotate(place, it, std::next(it));
  }
}

bool HaveSameQueue(const Core& a, const Core& b) {
  const auto same = [](const QueuedProgram& one, const QueuedProgram& other) {
    return one.program == other.program && one.launch_id == other.launch_id;
  };
  return a.program == b.program && a.launch_id == b.launch_id &&
         std::equal(a.queued.begin(), a.queued.end(), b.queued.begin(), b.queued.end(), same);
}

UnitState StateOf(const Core& core, std::optional<int64_t> pc) {
  if (pc.has_value() && *pc != 0) return UnitState::kRunning;
  if (pc.has_value()) return core.queued.empty() ? UnitState::kIdle : UnitState::kEntry;
  // Without a pc, a core is known to be idle only if it shows no work at all.
  if (core.queued.empty() && !core.program.has_value() && !core.launch_id.has_value()) {
    return UnitState::kIdle;
  }
  return UnitState::kUnclear;
}

// The place of a core in its cohort's order, doubled (see Unit::at).
std::optional<int64_t> AtOf(const ProgramOrder& order, const Topology& topology, int worker,
                            const Core& core, UnitState state) {
  const std::optional<int64_t> own = order.Ordinal(topology.LaunchAt(worker, core, 0));
  if (state == UnitState::kEntry) {
    if (own.has_value()) return 2 * *own;
    const auto next =
        core.queued.empty() ? std::nullopt : order.Ordinal(topology.LaunchAt(worker, core, 1));
    return next.has_value() ? std::optional(2 * *next - 1) : std::nullopt;
  }
  if (!own.has_value()) return std::nullopt;
  return state == UnitState::kIdle ? 2 * *own + 1 : 2 * *own;
}

void NameBetween(std::vector<Place>& places);

}  // namespace

Positions::Positions(const Topology& topology) : topology_(topology) {
  const size_t workers = topology.workers().size();
  first_unit_.reserve(workers + 1);
  first_sparse_.reserve(workers + 1);
  size_t cores = 0;
  for (const Snapshot& snapshot : topology.capture().snapshots) cores += snapshot.cores.size();
  units_.reserve(cores);
  std::vector<SeatedCore> sorted;
  for (size_t i = 0; i < workers; ++i) {
    first_unit_.push_back(static_cast<int>(units_.size()));
    first_sparse_.push_back(static_cast<int>(sparse_.size()));
    AddWorker(static_cast<int>(i), sorted);
  }
  first_unit_.push_back(static_cast<int>(units_.size()));
  first_sparse_.push_back(static_cast<int>(sparse_.size()));
  NameHlo();
  ClassifyByText();
  NameBetween(places_);
  FoldInstructions();
  FoldNeighbours();
  FoldRings();
  FoldSiblings();
  NoteChains();
  reported_.clear();
  last_text_ = nullptr;
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
  if (last_place_ >= 0) {
    const Place& last = places_[static_cast<size_t>(last_place_)];
    if (last.program == place.program && last.tag == place.tag && last.pc == place.pc &&
        last.core_type == place.core_type) {
      return last_place_;
    }
  }
  auto [it, added] =
      place_index_.try_emplace(PlaceKey{place.program, place.tag, place.pc, place.core_type},
                               static_cast<int>(places_.size()));
  if (added) places_.push_back(place);
  last_place_ = it->second;
  return last_place_;
}

void Positions::AddWorker(int worker, std::vector<SeatedCore>& sorted) {
  const WorkerInfo& info = topology_.worker(worker);
  if (info.snapshot == nullptr || info.standby) return;
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(info.cohort)].order;
  const size_t first = units_.size();
  SortCores(*info.snapshot, sorted);
  for (const auto& [chip, sparse, index, pc, core, sequencer] : sorted) {
    const UnitState state = StateOf(*core, pc);
    const int program = topology_.ProgramOf(worker, *core);
    int place = -1;
    if (state == UnitState::kRunning) {
      Place where;
      where.program = program;
      where.tag = sequencer->tag;
      where.pc = *pc;
      where.core_type = sparse ? CoreType::kSparseCore : CoreType::kTensorCore;
      place = InternPlace(where);
      NoteReported(place, *sequencer);
    }
    if (sparse) {
      // A SparseCore is often idle, or nothing is known of it.
      if (state == UnitState::kRunning) sparse_.push_back({worker, core, place});
      continue;
    }
    Unit unit;
    unit.worker = worker;
    unit.core = core;
    unit.state = state;
    unit.program = program;
    unit.place = place;
    const Unit* before = units_.size() > first ? &units_.back() : nullptr;
    const bool same_queue = before != nullptr && HaveSameQueue(*before->core, *core);
    if (before != nullptr) unit.queue = before->queue + (same_queue ? 0 : 1);
    unit.at = same_queue && before->state == state ? before->at
                                                   : AtOf(order, topology_, worker, *core, state);
    if (sequencer != nullptr) unit.frozen_ms = sequencer->frozen_ms;
    unit.stuck_ms = core->stuck_ms;
    units_.push_back(unit);
  }
}

// Classifies the instruction at which a core stands by the text of the program; without that, by
// the runtime's own text of the instruction.
HloClass Positions::ClassByText(const Sequencer& sequencer) {
  if (sequencer.hlo_waits.has_value()) return ClassifyHlo(*sequencer.hlo_waits);
  if (!sequencer.hlo_text.has_value()) return HloClass::kUnknown;
  if (last_text_ == nullptr || *last_text_ != *sequencer.hlo_text) {
    last_class_ = ClassifyHlo(HloWaitsOfLine(*sequencer.hlo_text));
    last_text_ = &*sequencer.hlo_text;
  }
  return last_class_;
}

void Positions::NoteReported(int place, const Sequencer& sequencer) {
  reported_.resize(places_.size());
  Reported& reported = reported_[static_cast<size_t>(place)];
  if (sequencer.hlo.has_value() && !sequencer.hlo->empty()) {
    const std::string_view name = *sequencer.hlo;
    const auto it = std::find_if(reported.names.begin(), reported.names.end(),
                                 [&](const auto& counted) { return counted.first == name; });
    if (it == reported.names.end()) {
      reported.names.emplace_back(name, 1);
    } else {
      ++it->second;
    }
  }
  const HloClass told = ClassByText(sequencer);
  if (told != HloClass::kUnknown) reported.by_text.insert(told);
}

// The HLO reported by one core holds for every core at the same fingerprint, tag and pc.
void Positions::NameHlo() {
  for (size_t i = 0; i < reported_.size(); ++i) {
    auto& names = reported_[i].names;
    if (names.empty()) continue;
    std::sort(names.begin(), names.end());
    Place& where = places_[i];
    int best = 0;
    bool contradicted = false;
    for (const auto& [name, count] : names) {
      contradicted = contradicted || ClassifyHlo(name) != ClassifyHlo(names.front().first);
      if (count > best) {
        best = count;
        where.hlo = name;
      }
    }
    where.hlo_class = contradicted ? HloClass::kUnknown : ClassifyHlo(where.hlo);
  }
}

// The class by the program's text, seen at one core, holds for all and outranks any name.
void Positions::ClassifyByText() {
  for (size_t i = 0; i < reported_.size(); ++i) {
    const std::set<HloClass>& classes = reported_[i].by_text;
    if (classes.empty()) continue;
    Place& where = places_[i];
    const HloClass by_name = where.hlo_class;
    where.hlo_class = classes.size() == 1 ? *classes.begin() : HloClass::kUnknown;
    // One line of text does not show whether a kernel reaches other chips. The name may show it.
    if (where.hlo_class == HloClass::kKernel &&
        (by_name == HloClass::kMaybeWait || by_name == HloClass::kInSliceWait)) {
      where.hlo_class = HloClass::kMaybeWait;
    }
    where.by_text = true;
  }
}

namespace {

constexpr int64_t kRingStep = 16;  // the most that the pc moves from one step of a ring to the next

// The code of an instruction is in one piece: a pc between two pcs of the instruction belongs to
// it, and so does the step of a ring right behind or before one of its steps.
void NameBetween(std::vector<Place>& places) {
  std::vector<size_t> order;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].core_type == CoreType::kTensorCore && places[i].program >= 0) {
      order.push_back(i);
    }
  }
  const auto key = [&](size_t i) {
    return std::tuple(places[i].program, places[i].tag, places[i].pc);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  const auto same_code = [](const Place& a, const Place& b) {
    return a.program == b.program && a.tag == b.tag;
  };
  const auto name = [](const Place& from, Place& to) {
    to.hlo = from.hlo;
    to.hlo_class = from.hlo_class;
    to.by_text = from.by_text;
  };
  std::vector<const Place*> next(order.size());  // with a name
  const Place* named = nullptr;
  for (size_t i = order.size(); i-- > 0;) {
    if (!places[order[i]].hlo.empty()) named = &places[order[i]];
    next[i] = named;
  }
  named = nullptr;
  for (size_t i = 0; i < order.size(); ++i) {
    Place& place = places[order[i]];
    if (!place.hlo.empty()) {
      named = &place;
    } else if (named != nullptr && next[i] != nullptr && same_code(*named, place) &&
               same_code(*next[i], place) && next[i]->hlo == named->hlo) {
      name(*named, place);
    }
  }
  const auto spread = [&](auto begin, auto end) {
    for (auto it = begin; it != end; ++it) {
      if (std::next(it) == end) return;
      const Place& from = places[*it];
      Place& to = places[*std::next(it)];
      if (!from.hlo.empty() && to.hlo.empty() && from.hlo_class == HloClass::kInSliceWait &&
          same_code(from, to) && std::abs(from.pc - to.pc) <= kRingStep) {
        name(from, to);
      }
    }
  };
  spread(order.begin(), order.end());
  spread(order.rbegin(), order.rend());
}

}  // namespace

std::vector<int> Positions::UnitsByPlace() const {
  std::vector<int> standing(places_.size(), 0);
  for (const Unit& unit : units_) {
    if (unit.place >= 0) ++standing[static_cast<size_t>(unit.place)];
  }
  return standing;
}

void Positions::MoveTo(const std::vector<int>& folded) {
  for (Unit& unit : units_) {
    if (unit.place >= 0) unit.place = folded[static_cast<size_t>(unit.place)];
  }
  for (SparseUnit& unit : sparse_) {
    if (unit.place >= 0) unit.place = folded[static_cast<size_t>(unit.place)];
  }
}

// A ring takes its steps at several pcs of one collective, and a loop runs through several pcs of
// one fusion: where the instruction is known, the instruction is the place. The kept pc and tag
// are those at which most cores stand.
void Positions::FoldInstructions() {
  const std::vector<int> standing = UnitsByPlace();
  std::map<std::tuple<int, CoreType, std::string_view>, int> chosen;
  std::vector<int> folded(places_.size());
  const auto key = [this](size_t i) {
    const Place& place = places_[i];
    return std::tuple(place.program, place.core_type, place.hlo);
  };
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].hlo.empty() || places_[i].program < 0) continue;
    auto [it, added] = chosen.try_emplace(key(i), static_cast<int>(i));
    if (added) continue;
    const auto rank = [&](size_t at) {
      return std::tuple(-standing[at], places_[at].tag, places_[at].pc);
    };
    if (rank(i) < rank(static_cast<size_t>(it->second))) it->second = static_cast<int>(i);
  }
  for (size_t i = 0; i < places_.size(); ++i) {
    const auto it = chosen.find(key(i));
    folded[i] = it == chosen.end() ? static_cast<int>(i) : it->second;
    Place& whole = places_[static_cast<size_t>(folded[i])];
    if (places_[i].by_text && !whole.by_text) {
      whole.hlo_class = places_[i].hlo_class;
      whole.by_text = true;
    }
  }
  MoveTo(folded);
}

// A core that waits goes round in a few bundles of code, and a pc may be read in the middle of a
// change. So one core or two right beside several others, if their instruction is not known, stand
// with these. No instruction is as short as that.
void Positions::FoldNeighbours() {
  constexpr int64_t kLoopBundles = 4;
  constexpr int kMostApart = 2;
  constexpr int kLeastTogether = 3;
  const std::vector<int> standing = UnitsByPlace();
  std::vector<size_t> order;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].core_type == CoreType::kTensorCore && standing[i] > 0) order.push_back(i);
  }
  const auto key = [this](size_t i) {
    return std::tuple(places_[i].program, places_[i].tag, places_[i].pc);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<int> folded(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) folded[i] = static_cast<int>(i);
  const auto with = [&](size_t apart, size_t crowd) {
    const Place& a = places_[apart];
    const Place& b = places_[crowd];
    const bool near = a.program >= 0 && a.program == b.program && a.tag == b.tag &&
                      std::abs(a.pc - b.pc) <= kLoopBundles;
    if (!near || !a.hlo.empty() || standing[apart] > kMostApart) return;
    if (standing[crowd] < kLeastTogether) return;
    folded[apart] = static_cast<int>(crowd);
  };
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    with(order[i], order[i + 1]);
    with(order[i + 1], order[i]);
  }
  MoveTo(folded);
}

// Without any known instruction, several TensorCores side by side in the code are at the steps
// of one ring. Two alone may as well be at one instruction and at the next.
void Positions::FoldRings() {
  constexpr size_t kLeastSteps = 3;
  const std::vector<int> standing = UnitsByPlace();
  std::vector<size_t> unnamed;
  for (size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.hlo.empty() && place.core_type == CoreType::kTensorCore && standing[i] > 0) {
      unnamed.push_back(i);
    }
  }
  const auto key = [this](size_t i) {
    return std::tuple(places_[i].program, places_[i].tag, places_[i].pc);
  };
  std::sort(unnamed.begin(), unnamed.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<int> folded(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) folded[i] = static_cast<int>(i);
  const auto next_step = [](const Place& a, const Place& b) {
    return a.program == b.program && a.tag == b.tag && b.pc - a.pc <= kRingStep;
  };
  for (size_t begin = 0; begin < unnamed.size();) {
    size_t end = begin + 1;
    while (end < unnamed.size() && next_step(places_[unnamed[end - 1]], places_[unnamed[end]])) {
      ++end;
    }
    if (end - begin >= kLeastSteps) {
      size_t most = unnamed[begin];
      for (size_t i = begin; i < end; ++i) {
        if (standing[unnamed[i]] > standing[most]) most = unnamed[i];
      }
      for (size_t i = begin; i < end; ++i) folded[unnamed[i]] = static_cast<int>(most);
    }
    begin = end;
  }
  MoveTo(folded);
}

// On v4 and v5p the TensorCores of a chip run one program together: while one is
// stuck its sibling waits. So the chip counts once, and the core that stands apart represents it.
void Positions::FoldSiblings() {
  const auto& generation = topology_.capture().header.generation;
  if (generation != "v4" && generation != "v5p") return;
  std::map<std::tuple<int, std::optional<int64_t>, int>, int> cluster;
  auto crowd_key = [&](const Unit& unit) {
    return std::tuple(topology_.worker(unit.worker).slice, unit.at, unit.place);
  };
  // Units nearly always stand like the unit before.
  auto last = cluster.end();
  const auto crowd_of = [&](const Unit& unit) -> int& {
    const auto key = crowd_key(unit);
    if (last == cluster.end() || last->first != key) last = cluster.try_emplace(key).first;
    return last->second;
  };
  for (const Unit& unit : units_) ++crowd_of(unit);
  std::vector<Unit> folded;
  folded.reserve(units_.size());
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
      } else if (crowd_of(unit) < crowd_of(folded.back())) {
        folded.back() = unit;
      }
    }
  }
  first.push_back(static_cast<int>(folded.size()));
  units_ = std::move(folded);
  first_unit_ = std::move(first);
}

void Positions::NoteChains() {
  chains_.emplace_back(1);
  chain_of_.reserve(first_unit_.size());
  int last = 0;  // nearly all workers have the chain of the worker before
  for (int worker = 0; worker + 1 < static_cast<int>(first_unit_.size()); ++worker) {
    const auto [begin, end] = UnitsOf(worker);
    const Core* longest = nullptr;
    int queue = -1;
    for (int i = begin; i < end; ++i) {
      const Unit& one = unit(i);
      if (one.state != UnitState::kRunning || one.queue == queue) continue;
      queue = one.queue;
      const auto rank = [](const Core* core) {
        return core == nullptr ? std::pair<size_t, bool>()
                               : std::pair(core->queued.size(), core->launch_id.has_value());
      };
      // A queue without a launch id adds nothing to that of an unknown launch.
      if (rank(one.core) > rank(longest)) longest = one.core;
    }
    if (longest == nullptr) {
      chain_of_.push_back(0);
      continue;
    }
    if (!topology_.IsChain(worker, *longest, chains_[static_cast<size_t>(last)])) {
      last = static_cast<int>(chains_.size());
      chains_.push_back(topology_.Chain(worker, *longest));
    }
    chain_of_.push_back(last);
  }
}

}  // namespace rapideye::classifier
