// Input stalls, and hosts that queue nothing, where no core tells: a job on other devices,
// or a job whose runtimes do not answer. The rule follows the same chain by the places of hosts
// that other rules follow by the positions of cores: many wait, and a few do not, or wait for
// something else.
//
// The rule applies only where the job stands (Case::JobStands): places do not show a standstill,
// and in a job that advances there is always a host at work on something of its own.
//
// Facts: stacks of the training processes, phases and steps of their progress pages.
#include "classifier/host/host_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classifier/findings/facts.h"
#include "classifier/host/frame.h"
#include "classifier/host/stacks.h"
#include "classifier/rules/rules.h"
#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {
namespace {

// Fewer hosts have no majority.
constexpr size_t kLeastForMajority = 3;

struct Placed {
  int worker;
  HostPlace place;
};

// True if a core of the worker is in a launch, or may be.
bool Runs(const Case& c, int worker) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  for (int i = first; i < last; ++i) {
    if (c.positions.unit(i).state != UnitState::kIdle) return true;
  }
  return false;
}

// True if a core of the worker is in a launch that other cores of it have left, or never got.
bool RunsInPart(const Case& c, int worker) {
  const auto [first, last] = c.positions.UnitsOf(worker);
  const auto idle = [&c](int i) { return c.positions.unit(i).state == UnitState::kIdle; };
  bool some_idle = false;
  for (int i = first; i < last; ++i) some_idle = some_idle || idle(i);
  return some_idle && Runs(c, worker);
}

// True if cores do not decide: none is known; or none runs, and no host is seen to wait for input,
// which the rule of data stalls names by cores and pages together; or some run, others are idle,
// and no chain leads from the running cores to the idle ones, or to hosts at a barrier.
bool HostsDecide(const Case& c) {
  if (c.positions.units().empty()) return true;
  const auto nothing_runs = [&c] {
    return std::all_of(c.graph.slices.begin(), c.graph.slices.end(),
                       [](const SliceView& slice) { return slice.running == 0; });
  };
  const auto no_chain_leads_on = [&c] {
    return c.divergence.foreign.empty() && c.divergence.misordered.empty() &&
           std::all_of(c.graph.heads.begin(), c.graph.heads.end(),
                       [](const Head& head) { return head.kind == HeadKind::kCrossWait; });
  };
  if (!MostWaitAtBarrier(c) && !nothing_runs() && !no_chain_leads_on()) return false;
  // Last, because it reads the stacks of all hosts.
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    if (!InputWaitSeen(c, i).empty()) return false;
  }
  return true;
}

// A process that makes batches for a worker, where it stands.
struct Loader {
  // File and function of the frames down to the program's innermost function.
  std::vector<std::pair<std::string_view, std::string_view>> place;
  std::string name;  // of the innermost
};

// Absent if no such process is known, or if it hands over what it has made: while no loop takes
// batches, a loader that gets data fills its queue, and waits there.
std::optional<Loader> LoaderOf(const Snapshot& snapshot) {
  for (const Stack& stack : snapshot.stacks) {
    if (!IsOfChild(stack)) continue;
    const Frames frames = ParseFrames(stack);
    const Frame* const program = ProgramFrame(frames);
    if (program == nullptr) continue;
    const auto end = frames.begin() + (program - frames.data()) + 1;
    const bool hands_over = std::any_of(frames.begin(), end, [](const Frame& frame) {
      return frame.IsOf("queue") || frame.IsOf("multiprocessing") || frame.IsOf("threading") ||
             frame.IsOf("concurrent");
    });
    if (hands_over) continue;
    Loader loader{.place = {}, .name = stack.frames.front()};
    for (auto frame = frames.begin(); frame != end; ++frame) {
      loader.place.emplace_back(frame->file, frame->function);
    }
    return loader;
  }
  return std::nullopt;
}

using PlacedGroup = std::vector<const Placed*>;

// The largest group, if all other groups hold at most a third of all hosts; null: there is none.
template <typename Key>
const PlacedGroup* Majority(const std::map<Key, PlacedGroup>& groups) {
  size_t all = 0;
  const PlacedGroup* most = nullptr;
  for (const auto& [key, group] : groups) {
    all += group.size();
    if (most == nullptr || group.size() > most->size()) most = &group;
  }
  if (most == nullptr || all < kLeastForMajority || 3 * (all - most->size()) > all) return nullptr;
  return most;
}

template <typename Key>
PlacedGroup AllBut(const std::map<Key, PlacedGroup>& groups, const PlacedGroup* most) {
  PlacedGroup odd;
  for (const auto& [key, group] : groups) {
    if (&group != most) odd.insert(odd.end(), group.begin(), group.end());
  }
  std::sort(odd.begin(), odd.end(),
            [](const Placed* a, const Placed* b) { return a->worker < b->worker; });
  return odd;
}

// The odd hosts, and the way in which the others wait for them.
struct Odd {
  PlacedGroup group;
  HostWait wait = HostWait::kNone;
  double doubt = 0;
};

// Of several odd hosts, those that are a step behind hold up the other odd hosts, too.
PlacedGroup Earliest(const PlacedGroup& group) {
  std::optional<int64_t> first;
  for (const Placed* one : group) {
    if (!one->place.step.has_value()) return group;
    first = std::min(first.value_or(*one->place.step), *one->place.step);
  }
  PlacedGroup earliest;
  for (const Placed* one : group) {
    if (one->place.step == first) earliest.push_back(one);
  }
  return earliest;
}

bool AreAlike(const PlacedGroup& group) {
  return std::all_of(group.begin(), group.end(), [&](const Placed* one) {
    return one->place.activity == group.front()->place.activity;
  });
}

// Each process has locks of its own: if several hosts wait for locks, their program does so.
bool AreAtOneThing(const PlacedGroup& group) {
  const HostActivity activity = group.front()->place.activity;
  const bool own =
      activity == HostActivity::kOther || (activity == HostActivity::kLock && group.size() > 1);
  return AreAlike(group) && !own;
}

// Hosts that open their chips wait for each other; where no core is known, each compiles by itself.
bool HoldUpNobody(const Case& c, const PlacedGroup& group) {
  const HostActivity activity = group.front()->place.activity;
  const bool compile = activity == HostActivity::kCompilation && c.positions.units().empty();
  return group.size() > 1 && (activity == HostActivity::kStartUp || compile);
}

bool ByStack(const PlacedGroup& group) {
  return std::all_of(group.begin(), group.end(), [](const Placed* one) {
    return one->place.in_callback ||
           (one->place.by_stack && one->place.activity != HostActivity::kOther);
  });
}

bool AllWait(const PlacedGroup& group, HostWait wait) {
  return std::all_of(group.begin(), group.end(),
                     [wait](const Placed* one) { return one->place.wait == wait; });
}

// Odd are hosts in an earlier step than most: the others wait for these only.
std::optional<PlacedGroup> OddByStep(const PlacedGroup& all) {
  std::map<int64_t, PlacedGroup> by_step;
  for (const Placed* one : all) {
    if (!one->place.step.has_value()) return std::nullopt;
    by_step[*one->place.step].push_back(one);
  }
  const PlacedGroup* const most = Majority(by_step);
  if (by_step.size() < 2 || most != &by_step.rbegin()->second) return std::nullopt;
  return AllBut(by_step, most);
}

// Odd are hosts in a step while most evaluate, or the other way round.
std::optional<PlacedGroup> OddByPhase(const PlacedGroup& all) {
  std::map<Phase, PlacedGroup> by_phase;
  for (const Placed* one : all) {
    if (!one->place.phase.has_value()) return std::nullopt;
    by_phase[*one->place.phase].push_back(one);
  }
  const PlacedGroup* const most = Majority(by_phase);
  if (by_phase.size() < 2 || most == nullptr) return std::nullopt;
  return AllBut(by_phase, most);
}

// Odd are hosts in another function of the program. The first worker often has work of its own,
// waits for the same numbers elsewhere, and is not named for that.
std::optional<PlacedGroup> OddByProgram(const PlacedGroup& all) {
  std::map<std::string, PlacedGroup> by_program;
  for (const Placed* one : all) {
    if (one->place.program.empty()) return std::nullopt;
    by_program[one->place.program].push_back(one);
  }
  const PlacedGroup* const most = Majority(by_program);
  if (by_program.size() < 2 || most == nullptr) return std::nullopt;
  PlacedGroup odd = AllBut(by_program, most);
  if (odd.front()->worker == 0) return std::nullopt;
  return odd;
}

// Without a majority: those in the shutdown have left the others, who wait for them and so do not
// come to it.
std::optional<Odd> InShutdownWhileOthersWait(const std::map<HostWait, PlacedGroup>& by_wait) {
  const auto left = by_wait.find(HostWait::kShutdown);
  if (by_wait.size() != 2 || left == by_wait.end()) return std::nullopt;
  const HostWait wait = left == by_wait.begin() ? by_wait.rbegin()->first : by_wait.begin()->first;
  if (wait != HostWait::kDevice && wait != HostWait::kBarrier) return std::nullopt;
  return Odd{left->second, wait, kDoubtAmongWaiters};
}

// All hosts wait: a host that waits for something else than most has not come to their wait, or
// has passed it.
std::optional<Odd> AmongWaiters(const std::vector<Placed>& placed) {
  std::map<HostWait, PlacedGroup> by_wait;
  for (const Placed& one : placed) by_wait[one.place.wait].push_back(&one);
  const PlacedGroup* const most = Majority(by_wait);
  if (most == nullptr) return InShutdownWhileOthersWait(by_wait);
  const HostWait wait = most->front()->place.wait;
  if (by_wait.size() > 1) return Odd{AllBut(by_wait, most), wait, kDoubtAmongWaiters};
  if (auto odd = OddByStep(*most)) return Odd{*std::move(odd), wait, kDoubtAmongWaiters};
  if (auto odd = OddByPhase(*most)) return Odd{*std::move(odd), wait, kDoubtAmongWaiters};
  if (auto odd = OddByProgram(*most)) return Odd{*std::move(odd), wait, kDoubtByProgram};
  return std::nullopt;
}

// A page does not tell for whom a checkpoint waits; the stacks of others in the same phase do.
// A host without a stack is taken to wait as most of these do, unless it is the only host
// with an unknown wait while all others wait: then it is the one that they wait for.
class OfThePhase {
 public:
  explicit OfThePhase(std::vector<Placed>& placed) : placed_(placed) {
    for (Placed& one : placed) {
      if (!one.place.phase.has_value()) continue;
      if (one.place.by_stack) {
        ++by_stack_[*one.place.phase][one.place.wait];
      } else if (one.place.wait == HostWait::kNone) {
        pages_[*one.place.phase].push_back(&one);
      }
    }
  }

  void Apply(bool all_are_known) {
    for (auto& [phase, pages] : pages_) {
      const auto found = by_stack_.find(phase);
      if (found == by_stack_.end()) continue;
      const std::map<HostWait, int>& waits = found->second;
      const auto most =
          std::max_element(waits.begin(), waits.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      const bool all_wait = !waits.contains(HostWait::kNone);
      const bool last_candidate = all_are_known && all_wait && pages.size() == 1 &&
                                  pages_.size() == 1 && OthersWait() &&
                                  most->second >= static_cast<int>(kLeastForMajority);
      if (last_candidate) continue;
      for (Placed* one : pages) one->place.wait = most->first;
    }
  }

 private:
  bool OthersWait() const {
    return std::all_of(placed_.begin(), placed_.end(), [](const Placed& one) {
      return !one.place.by_stack || one.place.wait != HostWait::kNone;
    });
  }

  std::vector<Placed>& placed_;
  std::map<Phase, std::map<HostWait, int>> by_stack_;
  std::map<Phase, std::vector<Placed*>> pages_;
};

class HostPlaceRule {
 public:
  HostPlaceRule(const Case& c, Findings& out);
  void Apply();

 private:
  bool MissingWorker() const;
  std::optional<Odd> AmongBusy(const PlacedGroup& busy, const PlacedGroup& waiting) const;
  void Name(const Odd& odd);

  // Where a loader gets no data, tells of loaders of the others that get none, either: their loops
  // still have batches, or wait for this one.
  void TellLoaders(const Odd& odd, Finding& finding) const;

  // If all hosts with a known place are in one save or restore, adds the few without a known place.
  void AddThoseThatDoNotTell(const Odd& odd, Finding& finding) const;

  const Case& c_;
  Findings& out_;
  std::vector<Placed> placed_;
};

HostPlaceRule::HostPlaceRule(const Case& c, Findings& out) : c_(c), out_(out) {
  for (int i = 0; i < static_cast<int>(c.topology.workers().size()); ++i) {
    const Snapshot* snapshot = c.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    if (auto place = PlaceOfHost(*snapshot)) placed_.push_back({i, *std::move(place)});
  }
  OfThePhase(placed_).Apply(placed_.size() == c.topology.workers().size());
}

void HostPlaceRule::Apply() {
  if (placed_.empty()) return;
  const bool some_run = std::any_of(placed_.begin(), placed_.end(),
                                    [&](const Placed& one) { return Runs(c_, one.worker); });
  if (2 * placed_.size() <= c_.topology.workers().size()) {
    if (!some_run) {
      out_.Note(c_, HostsRejected{NoHostStandsOut::kMostUnknown});
    }
    return;
  }
  PlacedGroup busy;
  PlacedGroup waiting;
  for (const Placed& one : placed_) {
    // A loop runs ahead of its device: if cores are in a launch, the loop may be anywhere.
    const bool awaited = one.place.in_callback || !Runs(c_, one.worker);
    (one.place.wait == HostWait::kNone && awaited ? busy : waiting).push_back(&one);
  }
  // Some hosts have cores in a launch: only stacks that show the work of the others tell more.
  const bool barrier = busy.empty() && MostWaitAtBarrier(c_);
  if (some_run && !barrier && (busy.empty() || !AreAlike(busy) || !ByStack(busy))) return;
  // Stacks in logs lack the frames below Python's: a function of the program may wait there for the
  // device.
  if (c_.logs != nullptr && !ByStack(busy)) {
    out_.Note(c_, HostsRejected{NoHostStandsOut::kPythonAlone});
    return;
  }
  // A missing worker is the first candidate for whom the others wait.
  if (busy.empty() && MissingWorker()) {
    out_.Note(c_, HostsRejected{NoHostStandsOut::kSomeMissing});
    return;
  }
  std::optional<Odd> odd = busy.empty() ? AmongWaiters(placed_) : AmongBusy(busy, waiting);
  // A core of its own holds up such a host.
  if (odd.has_value() && AllWait(odd->group, HostWait::kDevice) &&
      std::any_of(odd->group.begin(), odd->group.end(),
                  [&](const Placed* one) { return RunsInPart(c_, one->worker); })) {
    return out_.Note(c_, HostsRejected{NoHostStandsOut::kDeviceRuns});
  }
  if (odd.has_value() && some_run && !barrier) odd->wait = HostWait::kDevice;
  if (odd.has_value()) return Name(*odd);
  if (some_run) return;
  const HostWait wait =
      busy.size() > waiting.size() ? HostWait::kNone : waiting.front()->place.wait;
  out_.Note(c_, HostsRejected{NoHostStandsOut::kMostAreAlike, wait});
}

bool HostPlaceRule::MissingWorker() const {
  return std::any_of(c_.topology.workers().begin(), c_.topology.workers().end(),
                     [](const WorkerInfo& worker) { return worker.snapshot == nullptr; });
}

std::optional<Odd> HostPlaceRule::AmongBusy(const PlacedGroup& busy,
                                            const PlacedGroup& waiting) const {
  // Most hosts busy with work of their own are no chain. All hosts at one activity that hangs, a
  // storage or a source of data, are.
  const bool at_one_thing = AreAtOneThing(busy);
  if (waiting.empty()) {
    if (at_one_thing && !HoldUpNobody(c_, busy)) return Odd{.group = Earliest(busy)};
    return std::nullopt;
  }
  // By their pages most hosts are in one checkpoint, a few elsewhere: the many wait for the few.
  const bool pages =
      std::none_of(busy.begin(), busy.end(), [](const Placed* one) { return one->place.by_stack; });
  if (pages && at_one_thing && busy.front()->place.activity != HostActivity::kInput &&
      placed_.size() >= kLeastForMajority && 3 * waiting.size() <= placed_.size()) {
    return Odd{waiting, HostWait::kBarrier, kDoubtAmongWaiters};
  }
  if (at_one_thing || busy.size() <= waiting.size()) {
    return Odd{Earliest(busy), waiting.front()->place.wait, 0};
  }
  return std::nullopt;
}

void HostPlaceRule::Name(const Odd& odd) {
  Finding finding;
  finding.basis = Basis::kPosition;
  finding.cause = Cause::kDataInputStall;
  finding.detail = Detail::kInputPipeline;
  finding.confidence = kConfidenceHostByStack;
  const size_t others = placed_.size() - odd.group.size();
  for (const Placed* head : odd.group) {
    const HostStands fact{head->worker, &head->place, others, odd.wait};
    Culprit& culprit = Accuse(c_, Strength::kStrong, fact, finding);
    const HostWait at = head->place.wait;
    const bool elsewhere = odd.doubt > 0 && (at == HostWait::kDevice || at == HostWait::kBarrier);
    culprit.host_activity = elsewhere ? HostActivity::kBarrier : head->place.activity;
    if (head->place.activity != HostActivity::kInput) finding.detail = Detail::kProgramNotQueued;
    if (!head->place.by_stack) finding.confidence = kConfidenceHostByPage;
  }
  if (others == 0) AddThoseThatDoNotTell(odd, finding);
  TellLoaders(odd, finding);
  finding.confidence -= odd.doubt;
  // A host in the shutdown while the others are at work has ended its program.
  if (odd.wait != HostWait::kShutdown && AllWait(odd.group, HostWait::kShutdown)) {
    finding.cause = Cause::kUnrecoverableError;
    finding.detail = Detail::kProcessExit;
  }
  finding.why = finding.culprits.front().why;
  out_.Add(std::move(finding));
}

void HostPlaceRule::TellLoaders(const Odd& odd, Finding& finding) const {
  if (finding.detail != Detail::kInputPipeline) return;
  const std::optional<Loader> starved = LoaderOf(*c_.worker(odd.group.front()->worker).snapshot);
  if (!starved.has_value()) return;
  std::vector<int> alike;
  for (const Placed& one : placed_) {
    const bool accused = std::any_of(odd.group.begin(), odd.group.end(), [&](const Placed* head) {
      return head->worker == one.worker;
    });
    const std::optional<Loader> loader = LoaderOf(*c_.worker(one.worker).snapshot);
    if (!accused && loader.has_value() && loader->place == starved->place) {
      alike.push_back(one.worker);
    }
  }
  if (alike.empty()) return;
  finding.evidence.push_back(
      Evidence(c_, Strength::kStrong, LoadersStandAlike{&alike, starved->name}));
}

void HostPlaceRule::AddThoseThatDoNotTell(const Odd& odd, Finding& finding) const {
  const HostActivity activity = odd.group.front()->place.activity;
  const bool storage =
      activity == HostActivity::kCheckpointSave || activity == HostActivity::kCheckpointRestore;
  if (!storage || !AreAlike(odd.group)) return;
  const int all = static_cast<int>(c_.topology.workers().size());
  if (placed_.size() < kLeastForMajority || 4 * static_cast<int>(placed_.size()) < 3 * all) return;
  std::vector<bool> tells(static_cast<size_t>(all), false);
  for (const Placed& one : placed_) tells[static_cast<size_t>(one.worker)] = true;
  for (int worker = 0; worker < all; ++worker) {
    if (tells[static_cast<size_t>(worker)] || c_.worker(worker).standby) continue;
    Culprit culprit = CulpritWorker(c_, worker, FactText(c_, HostUntold{worker}));
    culprit.host_activity = activity;
    finding.culprits.push_back(std::move(culprit));
  }
}

}  // namespace

void FindHostPlace(const Case& c, Findings& out) {
  // By logs alone, a failure explains more than the places of those who outlived it.
  if (c.logs != nullptr && !c.timeline.roots.empty()) return;
  if (HostsDecide(c) && c.JobStands()) HostPlaceRule(c, out).Apply();
}

}  // namespace rapideye::classifier
