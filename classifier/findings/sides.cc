#include "classifier/findings/sides.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "classifier/findings/facts.h"
#include "classifier/programs/passed_launches.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// The HLO instructions at which the workers of a side stand.
std::set<std::string_view> Instructions(const Case& c, const std::vector<int>& workers) {
  std::set<std::string_view> names;
  for (int worker : workers) {
    const auto [first, last] = c.positions.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      const int place = c.positions.unit(i).place;
      if (place >= 0 && !c.positions.place(place).hlo.empty()) {
        names.insert(c.positions.place(place).hlo);
      }
    }
  }
  return names;
}

int Running(const Case& c, int worker) { return c.divergence.running[static_cast<size_t>(worker)]; }

// True if the other worker's program stands in this worker's queue.
bool Queues(const Case& c, int worker, int other) {
  const Unit& unit = c.positions.unit(c.positions.UnitsOf(worker).first);
  const std::vector<Launch> chain = c.topology.Chain(worker, *unit.core);
  return std::any_of(chain.begin() + 1, chain.end(),
                     [&](const Launch& launch) { return launch.program == Running(c, other); });
}

// The program most of these workers are in.
int CommonProgram(const Case& c, const std::vector<int>& workers) {
  std::map<int, int> count;
  for (int worker : workers) {
    const int program = c.divergence.running[static_cast<size_t>(worker)];
    if (program >= 0) ++count[program];
  }
  int best = -1;
  for (const auto& [program, n] : count) {
    if (best < 0 || n > count[best]) best = program;
  }
  return best;
}

bool HoldsProgram(const Case& c, int worker, int program) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  for (int i = first; i < last; ++i) {
    for (const Launch& launch : c.topology.Chain(worker, *c.positions.unit(i).core)) {
      if (launch.program == program) return true;
    }
  }
  return false;
}

// The programs that the workers of a slice, but for these, run or queue.
std::set<int> ProgramsOfMates(const Case& c, int slice, const std::vector<int>& but) {
  std::set<int> programs;
  const SliceInfo& info = c.topology.slices()[static_cast<size_t>(slice)];
  for (int i = info.first; i < info.last; ++i) {
    if (std::binary_search(but.begin(), but.end(), i)) continue;
    const auto [first, last] = c.positions.UnitsOf(i);
    for (int unit = first; unit < last; ++unit) {
      for (const Launch& launch : c.topology.Chain(i, *c.positions.unit(unit).core)) {
        if (launch.program >= 0) programs.insert(launch.program);
      }
    }
  }
  return programs;
}

// Where no cohorts are known, slices may be stages of a pipeline, whose programs have the names of
// this one's: leaves out slices that have no program in common with the mates of these workers.
std::vector<int> OfTheSameStage(const Case& c, const std::vector<int>& workers,
                                const std::vector<int>& others) {
  if (!c.topology.capture().header.cohorts.empty()) return others;
  const int slice = c.worker(workers.front()).slice;
  const std::set<int> mates = ProgramsOfMates(c, slice, workers);
  if (mates.empty()) return others;
  std::map<int, bool> is_same;
  std::vector<int> same;
  for (int worker : others) {
    const int theirs = c.worker(worker).slice;
    const auto [known, added] = is_same.try_emplace(theirs, theirs == slice);
    if (added && !known->second) {
      const std::set<int> programs = ProgramsOfMates(c, theirs, {});
      known->second = programs.empty() || std::any_of(programs.begin(), programs.end(),
                                                      [&](int p) { return mates.contains(p); });
    }
    if (known->second) same.push_back(worker);
  }
  return same;
}

// The same module with another fingerprint: any program of the other side counts, since
// the workers may be in different programs of the step.
bool SameModule(const Case& c, int program, const std::vector<int>& others) {
  const std::string_view module = c.topology.programs()[static_cast<size_t>(program)].module;
  if (module.empty()) return false;
  for (int worker : others) {
    const auto [first, last] = c.positions.UnitsOf(worker);
    for (int i = first; i < last; ++i) {
      for (const Launch& launch : c.topology.Chain(worker, *c.positions.unit(i).core)) {
        if (launch.program < 0 || launch.program == program) continue;
        if (c.topology.programs()[static_cast<size_t>(launch.program)].module == module) {
          return true;
        }
      }
    }
  }
  return false;
}

// True if workers of both sides are in launches of one id, and one side's program has no name.
bool InOneLaunch(const Case& c, const Sides& sides) {
  bool nameless = false;
  const auto ids = [&](const std::vector<int>& workers) {
    std::set<int32_t> found;
    for (int worker : workers) {
      const int program = Running(c, worker);
      if (program < 0) continue;
      nameless = nameless || c.topology.programs()[static_cast<size_t>(program)].module.empty();
      const auto [first, last] = c.positions.UnitsOf(worker);
      for (int i = first; i < last; ++i) {
        const Core& core = *c.positions.unit(i).core;
        if (c.positions.unit(i).place >= 0 && core.launch_id) found.insert(*core.launch_id);
      }
    }
    return found;
  };
  const std::set<int32_t> odd = ids(sides.odd);
  const std::set<int32_t> rest = ids(sides.rest);
  return nameless &&
         std::any_of(odd.begin(), odd.end(), [&](int32_t id) { return rest.contains(id); });
}

void Judge(const Case& c, Sides& sides) {
  sides.rest_program = CommonProgram(c, sides.rest);
  const auto module = [&](int program) {
    return program < 0 ? std::string_view()
                       : c.topology.programs()[static_cast<size_t>(program)].module;
  };
  const bool known = !module(sides.odd_program).empty() && !module(sides.rest_program).empty();
  sides.same_module = SameModule(c, sides.odd_program, sides.rest) || InOneLaunch(c, sides);
  sides.named = known || sides.same_module;
  if (sides.named) return;
  // Without names, equal instructions show that two compilations of one module wait.
  const auto odd = Instructions(c, sides.odd);
  const auto rest = Instructions(c, sides.rest);
  sides.same_module = !odd.empty() && odd == rest;
}

// True if a worker of another cohort runs or queues a program of this name.
bool IsKnownElsewhere(const Case& c, int program, int cohort) {
  const auto& programs = c.topology.programs();
  const std::string_view module = programs[static_cast<size_t>(program)].module;
  if (module.empty()) return false;
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const auto [first, last] = c.positions.UnitsOf(i);
    if (first == last || c.worker(i).cohort == cohort) continue;
    for (const Launch& launch : c.topology.Chain(i, *c.positions.unit(first).core)) {
      if (launch.program >= 0 && programs[static_cast<size_t>(launch.program)].module == module) {
        return true;
      }
    }
  }
  return false;
}

// Of sides that are as many, the one is odd that has compiled a module otherwise than the cohort
// ran it in health; else the one whose program no other cohort knows by name: slices that are
// stages of a pipeline run programs of one name.
void BreakTie(const Case& c, Sides& sides) {
  if (!sides.equal || sides.odd_program < 0 || sides.rest_program < 0) return;
  const CohortInfo& cohort = c.topology.cohorts()[static_cast<size_t>(sides.cohort)];
  const bool by_order = cohort.order_was_given && sides.same_module;
  bool odd_known = by_order && cohort.order.Holds(sides.odd_program);
  bool rest_known = by_order && cohort.order.Holds(sides.rest_program);
  if (odd_known == rest_known) {
    odd_known = IsKnownElsewhere(c, sides.odd_program, sides.cohort);
    rest_known = IsKnownElsewhere(c, sides.rest_program, sides.cohort);
  }
  if (odd_known == rest_known) return;
  sides.equal = false;
  if (!odd_known) return;
  std::swap(sides.odd, sides.rest);
  std::swap(sides.odd_program, sides.rest_program);
}

// True if workers of another slice have been given this program, too, now or before.
bool IsKnownInOtherSlices(const Case& c, int program, int slice) {
  return std::any_of(
      c.topology.workers().begin(), c.topology.workers().end(), [&](const WorkerInfo& worker) {
        return worker.slice != slice && std::find(worker.programs.begin(), worker.programs.end(),
                                                  program) != worker.programs.end();
      });
}

// True if the worker is where the other slices are, while most of its slice stand in a program
// that comes before: the step, where the worker is in what is no part of it, such as a save; or
// where no step is known, a program of the other slices, too. That many have not gone astray
// together.
bool HasLeftMates(const Case& c, int worker, int other) {
  const WorkerInfo& own = c.worker(worker);
  if (c.worker(other).slice != own.slice) return false;
  const CohortInfo& cohort = c.topology.cohorts()[static_cast<size_t>(own.cohort)];
  const bool left = cohort.order_was_given ? cohort.order.Holds(Running(c, other)) &&
                                                 !cohort.order.Holds(Running(c, worker))
                                           : IsKnownInOtherSlices(c, Running(c, other), own.slice);
  if (!left) return false;
  const SliceInfo& slice = c.topology.slices()[static_cast<size_t>(own.slice)];
  int here = 0;
  int there = 0;
  for (int i = slice.first; i < slice.last; ++i) {
    here += Running(c, i) == Running(c, worker) ? 1 : 0;
    there += Running(c, i) == Running(c, other) ? 1 : 0;
  }
  return there > here && OtherSlicesHaveReached(c.topology, c.positions, worker);
}

// Asks who of two workers is ahead, once for all workers in one launch and step: the answer looks
// at the whole job, and mates may be thousands.
class AheadOfEachOther {
 public:
  explicit AheadOfEachOther(const Case& c) : c_(c) {}

  // One of the two is the same in all questions.
  bool Ask(int worker, int other, int of_many) {
    const Core& core = *c_.positions.unit(c_.positions.UnitsOf(of_many).first).core;
    const std::tuple key{Running(c_, of_many), core.launch_id, StepOf(c_, of_many)};
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    if (answers_.size() >= kMostAnswers) return false;
    return answers_.emplace(key, IsAhead(c_, worker, other)).first->second;
  }

 private:
  // Workers in more launches than these are no two sides.
  static constexpr size_t kMostAnswers = 16;

  const Case& c_;
  std::map<std::tuple<int, std::optional<int32_t>, std::optional<int64_t>>, bool> answers_;
};

// True if several hosts stand at one place of which nothing is known, and no connection of theirs
// is broken: cores that no wait holds would not all stand there.
bool StandTogether(const Case& c, const std::vector<int>& workers) {
  std::set<int> places;
  for (int worker : workers) {
    if (!c.links.broken_peers[static_cast<size_t>(worker)].empty()) return false;
    const auto [first, last] = c.positions.UnitsOf(worker);
    for (int i = first; i < last; ++i) places.insert(c.positions.unit(i).place);
  }
  return workers.size() > 1 && places.size() == 1 && *places.begin() >= 0 &&
         c.positions.place(*places.begin()).hlo_class == HloClass::kUnknown;
}

// A collective ends for all of its workers or for none: a host that is past the one in which its
// slice waits has left it out, however many of the cohort stand where that host stands.
void BlameThoseAhead(const Case& c, Sides& sides) {
  const SliceInfo& slice =
      c.topology.slices()[static_cast<size_t>(c.worker(sides.odd.front()).slice)];
  const bool together = StandTogether(c, sides.odd);
  const bool wait = std::all_of(sides.odd.begin(), sides.odd.end(), [&](int worker) {
    return worker >= slice.first && worker < slice.last && Running(c, worker) >= 0 &&
           (together || WaitsInSlice(c, worker));
  });
  // A program that only these workers know is not one that the others have passed.
  if (!wait || sides.same_module) return;
  const auto knows = [&](int worker) { return HoldsProgram(c, worker, sides.odd_program); };
  const bool known =
      c.topology.cohorts()[static_cast<size_t>(sides.cohort)].order.Holds(sides.odd_program) ||
      std::any_of(sides.rest.begin(), sides.rest.end(), knows) ||
      IsKnownInOtherSlices(c, sides.odd_program, c.worker(sides.odd.front()).slice);
  if (!known) return;
  std::vector<int> ahead;
  AheadOfEachOther of_front(c);
  for (int i = slice.first; i < slice.last; ++i) {
    const bool at_odds = Running(c, i) >= 0 && Running(c, i) != Running(c, sides.odd.front());
    if (at_odds && c.worker(i).cohort == sides.cohort && of_front.Ask(i, sides.odd.front(), i)) {
      ahead.push_back(i);
    }
  }
  if (ahead.empty()) return;
  sides.rest = std::exchange(sides.odd, std::move(ahead));
  sides.rest_program = Running(c, sides.rest.front());
  sides.odd_program = Running(c, sides.odd.front());
  sides.equal = false;
}

// True if these are further on than their mates, which wait in their slice: they have left out the
// collective at which the mates stand.
bool AreAheadOfMates(const Case& c, const std::vector<int>& workers) {
  const SliceInfo& slice =
      c.topology.slices()[static_cast<size_t>(c.worker(workers.front()).slice)];
  bool mates = false;
  AheadOfEachOther front_of(c);
  for (int i = slice.first; i < slice.last; ++i) {
    if (std::binary_search(workers.begin(), workers.end(), i)) continue;
    if (Running(c, i) < 0 || !WaitsInSlice(c, i) || !front_of.Ask(workers.front(), i, i)) {
      return false;
    }
    mates = true;
  }
  return mates;
}

// Lists workers in the program only: of a worker that merely queues it, there may be no text.
std::vector<ProgramSide> ProgramSides(const Case& c, const Sides& sides) {
  const auto side = [&c](const std::vector<int>& workers, int program) {
    const ProgramInfo& info = c.topology.programs()[static_cast<size_t>(program)];
    ProgramSide out;
    if (!info.module.empty()) out.module = std::string(info.module);
    out.fingerprint = std::string(info.fingerprint);
    for (int worker : workers) {
      if (out.workers.size() == kDivergedCulprits) break;
      if (c.divergence.running[static_cast<size_t>(worker)] == program) {
        out.workers.push_back(c.worker(worker).id);
      }
    }
    return out;
  };
  if (sides.odd_program < 0 || sides.rest_program < 0) return {};
  return {side(sides.odd, sides.odd_program), side(sides.rest, sides.rest_program)};
}

}  // namespace

bool IsAhead(const Case& c, int worker, int other) {
  const bool passed = HasPassed(c.topology, c.positions, worker, other);
  if (passed != HasPassed(c.topology, c.positions, other, worker)) return passed;
  const auto step = StepOf(c, worker);
  const auto other_step = StepOf(c, other);
  if (step && other_step && *step != *other_step) return *step > *other_step;
  const auto own = c.positions.unit(c.positions.UnitsOf(worker).first).at;
  const auto theirs = c.positions.unit(c.positions.UnitsOf(other).first).at;
  if (!own || !theirs) {
    const bool later = ComesLater(c.topology, c.positions, worker, other);
    if (later != ComesLater(c.topology, c.positions, other, worker)) return later;
    if (HasLeftMates(c, worker, other)) return true;
  }
  return own && theirs ? *own > *theirs : Queues(c, other, worker) && !Queues(c, worker, other);
}

bool WaitsInSlice(const Case& c, int worker) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  for (int i = first; i < last; ++i) {
    if (c.positions.unit(i).place < 0) return false;
    const HloClass hlo_class = c.positions.place(c.positions.unit(i).place).hlo_class;
    if (hlo_class != HloClass::kInSliceWait && hlo_class != HloClass::kSparseWait) return false;
  }
  return true;
}

std::vector<Sides> DivergedSides(const Case& c) {
  std::vector<Sides> all;
  for (const ForeignProgram& foreign : c.divergence.foreign) {
    Sides sides;
    size_t with_odd = 0;
    sides.cohort = foreign.cohort;
    sides.odd_program = foreign.program;
    sides.odd = foreign.workers;
    sides.order_known = c.topology.cohorts()[static_cast<size_t>(foreign.cohort)].order_was_given;
    for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
      if (c.worker(i).cohort != foreign.cohort || c.divergence.is_foreign[static_cast<size_t>(i)]) {
        continue;
      }
      // A worker that runs neither program, or has run out of work, counts for the side whose
      // programs it holds; but only workers in the program are at odds.
      const auto [first, last] = c.positions.UnitsOf(i);
      if (first == last) continue;
      if (HoldsProgram(c, i, foreign.program)) {
        ++with_odd;
      } else {
        sides.rest.push_back(i);
      }
    }
    const bool ahead = AreAheadOfMates(c, sides.odd);
    sides.equal = !ahead && sides.odd.size() + with_odd == sides.rest.size();
    const bool smaller = ahead || sides.odd.size() + with_odd <= sides.rest.size();
    sides.rest = OfTheSameStage(c, sides.odd, sides.rest);
    if (sides.rest.empty()) continue;
    Judge(c, sides);
    if (!smaller) {
      std::swap(sides.odd, sides.rest);
      std::swap(sides.odd_program, sides.rest_program);
    }
    BreakTie(c, sides);
    BlameThoseAhead(c, sides);
    all.push_back(std::move(sides));
  }
  // The odd one first: its side is what the texts are asked of.
  std::stable_sort(all.begin(), all.end(),
                   [](const Sides& a, const Sides& b) { return a.odd.size() < b.odd.size(); });
  return all;
}

void DescribeSides(const Case& c, const Sides& sides, Finding& finding) {
  finding.why = FactText(c, SidesApart{&sides});
  finding.evidence.push_back(Evidence(c, Strength::kStrong, SidesApart{&sides}));
  finding.evidence.push_back(Evidence(c, Strength::kStrong, RestRuns{&sides}));
  finding.sides = ProgramSides(c, sides);
  std::vector<int> culprits = sides.odd;
  if (sides.equal) culprits = {sides.odd.front(), sides.rest.front()};
  std::sort(culprits.begin(), culprits.end());
  if (culprits.size() > kDivergedCulprits) culprits.resize(kDivergedCulprits);
  for (int worker : culprits) {
    const RunsProgram fact{worker, Running(c, worker)};
    finding.culprits.push_back(CulpritWorker(c, worker, FactText(c, fact)));
  }
}

}  // namespace rapideye::classifier
