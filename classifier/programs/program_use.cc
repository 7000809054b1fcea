#include "classifier/programs/program_use.h"

#include <algorithm>
#include <utility>

namespace rapideye::classifier {
namespace {

// True for a place at which a core can wait for another slice.
bool MayBeCrossWait(HloClass hlo_class) {
  return hlo_class == HloClass::kCrossWait || hlo_class == HloClass::kMaybeWait ||
         hlo_class == HloClass::kUnknown;
}

}  // namespace

ProgramUse::ProgramUse(const Topology& topology, const Positions& positions)
    : topology_(topology),
      positions_(positions),
      running_(topology.workers().size(), -1),
      in_step_(topology.cohorts().size(), false),
      split_over_(topology.programs().size(), false),
      may_await_(topology.cohorts().size(), {-1, -1}) {
  for (size_t i = 0; i < topology.workers().size(); ++i) NoteWorker(static_cast<int>(i));
  for (const SliceInfo& slice : topology.slices()) {
    NoteIdleSlice(slice);
    NotePrograms(slice);
    torn_ = torn_ || IsTorn(slice);
  }
}

void ProgramUse::NoteWorker(int worker) {
  const auto [first, last] = positions_.UnitsOf(worker);
  const int cohort = topology_.worker(worker).cohort;
  const int slice = topology_.worker(worker).slice;
  int running = -1;
  bool mixed = false;
  int queue = -1;  // the one looked at last: the cores of a host nearly always have one queue
  std::pair<int, int> stand{-1, -1};  // program and place, likewise
  held_.clear();
  for (int i = first; i < last; ++i) {
    const Unit& unit = positions_.unit(i);
    for (size_t at = 0; unit.queue != queue && at <= unit.core->queued.size(); ++at) {
      const Launch launch = topology_.LaunchAt(worker, *unit.core, at);
      if (launch.program >= 0) held_.push_back(launch.program);
    }
    queue = unit.queue;
    if (unit.at && unit.state != UnitState::kIdle) in_step_[static_cast<size_t>(cohort)] = true;
    if (unit.at && unit.state != UnitState::kIdle &&
        (unit.state != UnitState::kRunning ||
         MayBeCrossWait(positions_.place(unit.place).hlo_class))) {
      NoteMayAwait(cohort, slice);
    }
    if (unit.state != UnitState::kRunning || unit.program < 0) continue;
    mixed = mixed || (running >= 0 && running != unit.program);
    running = unit.program;
    if (stand == std::pair(unit.program, unit.place)) continue;
    stand = {unit.program, unit.place};
    std::array<int, 2>& places =
        places_.try_emplace({slice, unit.program}, std::array{unit.place, -1}).first->second;
    if (places[0] != unit.place && places[1] < 0) places[1] = unit.place;
  }
  if (mixed) running = -1;
  running_[static_cast<size_t>(worker)] = running;
  std::sort(held_.begin(), held_.end());
  held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
  for (int program : held_) {
    Holders& holders = holders_[{cohort, program}];
    ++holders.workers;
    if (running != program) holders.by_others = true;
  }
}

void ProgramUse::NoteMayAwait(int cohort, int slice) {
  auto& [one, other] = may_await_[static_cast<size_t>(cohort)];
  if (one < 0) {
    one = slice;
  } else if (one != slice && other < 0) {
    other = slice;
  }
}

bool ProgramUse::AnotherMayAwait(int slice, int cohort) const {
  const auto& [one, other] = may_await_[static_cast<size_t>(cohort)];
  return (one >= 0 && one != slice) || other >= 0;
}

void ProgramUse::NoteIdleSlice(const SliceInfo& slice) {
  const int first = positions_.UnitsOf(slice.first).first;
  const int last = positions_.UnitsOf(slice.last - 1).second;
  for (int i = first; i < last; ++i) {
    if (positions_.unit(i).state != UnitState::kIdle) return;
  }
  for (int i = first; i < last; ++i) {
    const Unit& unit = positions_.unit(i);
    if (unit.at) in_step_[static_cast<size_t>(topology_.worker(unit.worker).cohort)] = true;
  }
}

void ProgramUse::NotePrograms(const SliceInfo& slice) {
  const int cohort = topology_.worker(slice.first).cohort;
  int program = -1;
  bool split = false;
  bool whole = true;
  for (int i = slice.first; i < slice.last; ++i) {
    whole = whole && Running(i) >= 0 && topology_.worker(i).cohort == cohort;
    split = split || (program >= 0 && Running(i) >= 0 && Running(i) != program);
    if (program < 0) program = Running(i);
  }
  of_slice_.push_back(whole && !split ? program : -1);
  if (!split) return;
  ++split_slices_;
  for (int i = slice.first; i < slice.last; ++i) {
    if (Running(i) >= 0) split_over_[static_cast<size_t>(Running(i))] = true;
  }
}

int ProgramUse::ProgramOfSlice(int slice, int cohort) const {
  const int first = topology_.slices()[static_cast<size_t>(slice)].first;
  return topology_.worker(first).cohort == cohort ? of_slice_[static_cast<size_t>(slice)] : -1;
}

bool ProgramUse::IsTorn(const SliceInfo& slice) const {
  for (int i = slice.first; i < slice.last; ++i) {
    if (topology_.worker(i).snapshot == nullptr) return true;
  }
  constexpr int kIdle = -1;
  std::optional<int> place;
  const int first = positions_.UnitsOf(slice.first).first;
  const int last = positions_.UnitsOf(slice.last - 1).second;
  for (int i = first; i < last; ++i) {
    const Unit& unit = positions_.unit(i);
    if (unit.state != UnitState::kIdle && unit.state != UnitState::kRunning) continue;
    const int stands = unit.state == UnitState::kIdle ? kIdle : unit.place;
    if (place.has_value() && *place != stands) return true;
    place = stands;
  }
  return false;
}

bool ProgramUse::WaitTogether(int slice, int program) const {
  const HloClass hlo_class = CommonClass(slice, program).value_or(HloClass::kCompute);
  return hlo_class != HloClass::kCompute && hlo_class != HloClass::kInput;
}

bool ProgramUse::MayMeetAnotherSlice(int slice, int program) const {
  return MayBeCrossWait(CommonClass(slice, program).value_or(HloClass::kCompute));
}

bool ProgramUse::MeetsInSlice(int slice, int program) const {
  return CommonClass(slice, program) == HloClass::kInSliceWait;
}

std::optional<HloClass> ProgramUse::CommonClass(int slice, int program) const {
  const std::array<int, 2>& places = places_.at({slice, program});
  if (places[1] >= 0) return std::nullopt;
  return positions_.place(places[0]).hlo_class;
}

}  // namespace rapideye::classifier
