#include "classifier/divergence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rapideye::classifier {
namespace {

// Who of a cohort has to do with a program.
struct Holders {
  std::set<int> running_it;  // programs that holders run; -1: idle, it ran last
};

class Finder {
 public:
  Finder(const Topology& topology, const Positions& positions)
      : topology_(topology), positions_(positions) {}

  Divergence Find() {
    const size_t workers = topology_.workers().size();
    result_.is_foreign.assign(workers, false);
    result_.running.assign(workers, -1);
    result_.main_program.assign(topology_.cohorts().size(), -1);
    for (int i = 0; i < static_cast<int>(workers); ++i) NoteWorker(i);
    ChooseMain();
    std::map<std::pair<int, int>, std::vector<int>> groups;
    for (int i = 0; i < static_cast<int>(workers); ++i) {
      if (Misordered(i)) result_.misordered.push_back(i);
      if (IsForeign(i)) result_.is_foreign[static_cast<size_t>(i)] = true;
    }
    for (const SliceInfo& slice : topology_.slices()) PardonSlice(slice);
    for (int i = 0; i < static_cast<int>(workers); ++i) {
      if (!result_.is_foreign[static_cast<size_t>(i)]) continue;
      groups[{topology_.worker(i).cohort, Running(i)}].push_back(i);
    }
    for (auto& [key, members] : groups) {
      result_.foreign.push_back({key.first, key.second, std::move(members)});
    }
    return std::move(result_);
  }

 private:
  int Running(int worker) const { return result_.running[static_cast<size_t>(worker)]; }
  const ProgramOrder& OrderOf(int worker) const {
    return topology_.cohorts()[static_cast<size_t>(topology_.worker(worker).cohort)].order;
  }

  // Slices may rightly be in different programs of a step that is not wholly known.
  // Then what most of a slice runs is no divergence by being run nowhere else.
  void PardonSlice(const SliceInfo& slice) {
    std::map<std::pair<int, int>, int> programs;  // cohort, program -> workers
    for (int i = slice.first; i < slice.last; ++i) {
      if (OrderOf(i).complete() || Running(i) < 0) continue;
      if (!result_.is_foreign[static_cast<size_t>(i)]) return;
      ++programs[{topology_.worker(i).cohort, Running(i)}];
    }
    if (programs.empty()) return;
    const auto most =
        std::max_element(programs.begin(), programs.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (int i = slice.first; i < slice.last; ++i) {
      if (std::pair(topology_.worker(i).cohort, Running(i)) == most->first) {
        result_.is_foreign[static_cast<size_t>(i)] = false;
      }
    }
  }

  void NoteWorker(int worker) {
    const auto [first, last] = positions_.UnitsOf(worker);
    const int cohort = topology_.worker(worker).cohort;
    int running = -1;
    bool mixed = false;
    for (int i = first; i < last; ++i) {
      const Unit& unit = positions_.unit(i);
      if (unit.state != UnitState::kRunning || unit.program < 0) continue;
      mixed = mixed || (running >= 0 && running != unit.program);
      running = unit.program;
    }
    if (mixed) running = -1;
    result_.running[static_cast<size_t>(worker)] = running;
    if (running >= 0) ++runners_[cohort][running];
    for (int i = first; i < last; ++i) {
      for (const Launch& launch : topology_.Chain(worker, *positions_.unit(i).core)) {
        if (launch.program >= 0) holders_[{cohort, launch.program}].running_it.insert(running);
      }
    }
  }

  void ChooseMain() {
    for (const auto& [cohort, programs] : runners_) {
      const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(cohort)].order;
      std::pair<bool, int> best{false, 0};
      for (const auto& [program, count] : programs) {
        const std::pair<bool, int> rank{order.Holds(program), count};
        if (rank <= best) continue;
        best = rank;
        result_.main_program[static_cast<size_t>(cohort)] = program;
      }
    }
    for (int i = 0; i < static_cast<int>(topology_.workers().size()); ++i) {
      const int cohort = topology_.worker(i).cohort;
      if (Running(i) < 0 || Running(i) != result_.main_program[static_cast<size_t>(cohort)]) {
        continue;
      }
      const Unit& unit = positions_.unit(positions_.UnitsOf(i).first);
      auto [it, added] = main_launch_.try_emplace(cohort, unit.core->launch_id);
      if (!added && !it->second.has_value()) it->second = unit.core->launch_id;
    }
  }

  // Its own queue shows that it has yet to run what the others are in.
  bool LagsByQueue(int worker) const {
    const ProgramOrder& order = OrderOf(worker);
    const int cohort = topology_.worker(worker).cohort;
    const int main = result_.main_program[static_cast<size_t>(cohort)];
    auto launch = main_launch_.find(cohort);
    if (launch == main_launch_.end() || !launch->second.has_value()) return false;
    const Launch others{main, launch->second};
    const auto [first, last] = positions_.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      const std::vector<Launch> chain = topology_.Chain(worker, *positions_.unit(i).core);
      for (size_t j = 1; j < chain.size(); ++j) {
        const auto mine = order.Ordinal(chain[j]);
        const auto theirs = order.Ordinal(others);
        if (mine && theirs) {
          if (*mine <= *theirs) return true;
        } else if (chain[j].program == main && chain[j].id &&
                   SerialDistance(*chain[j].id, *others.id) <= 0) {
          return true;
        }
      }
    }
    return false;
  }

  bool IsForeign(int worker) const {
    const int program = Running(worker);
    const int cohort = topology_.worker(worker).cohort;
    const int main = result_.main_program[static_cast<size_t>(cohort)];
    if (program < 0 || main < 0 || program == main) return false;
    const ProgramOrder& order = OrderOf(worker);
    if (order.Holds(program)) return false;
    // Somebody who runs something else holds it: it has a place in the order.
    for (int runs : holders_.at({cohort, program}).running_it) {
      if (runs != program) return false;
    }
    if (!LagsByQueue(worker)) return true;
    // It has yet to come to where the others are. Waiting there in a collective of
    // a program that is no part of the step is a divergence all the same.
    const Unit& unit = positions_.unit(positions_.UnitsOf(worker).first);
    return !order.empty() && unit.place >= 0 &&
           positions_.place(unit.place).hlo_class == HloClass::kInSliceWait;
  }

  bool Misordered(int worker) const {
    const ProgramOrder& order = OrderOf(worker);
    if (order.empty()) return false;
    const auto [first, last] = positions_.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      std::optional<int64_t> before;
      for (const Launch& launch : topology_.Chain(worker, *positions_.unit(i).core)) {
        const auto at = order.Ordinal(launch);
        if (!at.has_value()) continue;
        if (before.has_value() && *at <= *before) return true;
        before = at;
      }
    }
    return false;
  }

  const Topology& topology_;
  const Positions& positions_;
  Divergence result_;
  std::map<std::pair<int, int>, Holders> holders_;     // by cohort, program
  std::map<int, std::map<int, int>> runners_;          // cohort -> program -> workers
  std::map<int, std::optional<int32_t>> main_launch_;  // cohort -> what its main program is in
};

}  // namespace

Divergence FindDivergence(const Topology& topology, const Positions& positions) {
  return Finder(topology, positions).Find();
}

}  // namespace rapideye::classifier
