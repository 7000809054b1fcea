#include "coordinator/core/positions.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rapideye::coordinator {
namespace {

// An idle core stands at pc 0, or reports no pc, and has no program queued.
bool InFlight(const Core& core) {
  if (!core.program.has_value()) return false;
  if (!core.queued.empty()) return true;
  return std::any_of(core.sequencers.begin(), core.sequencers.end(),
                     [](const Sequencer& sequencer) { return sequencer.pc.value_or(0) != 0; });
}

std::string FingerprintOf(const Snapshot& snapshot, const Core& core) {
  return core.program.has_value() ? snapshot.programs[*core.program].fingerprint : "";
}

auto KeyOf(const Core& core) {
  return std::make_tuple(core.chip, core.chip_id, core.type, core.index);
}

struct Position {
  CoreType core_type;
  SequencerType sequencer_type;
  std::string fingerprint;
  std::optional<int32_t> launch_id;
  std::optional<int64_t> tag;
  int64_t pc = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Standing {
  int64_t cores = 0;
  bool hlo_known = false;
  std::vector<WorkerId> workers;  // that can be asked
};

void AddStandings(const WorkerId& worker, const Snapshot& snapshot,
                  std::map<Position, Standing>& standings) {
  const bool can_answer = snapshot.runtime.state == RuntimeState::kServing;
  for (const Core& core : snapshot.cores) {
    for (const Sequencer& sequencer : core.sequencers) {
      if (sequencer.pc.value_or(0) == 0) continue;
      Standing& standing = standings[Position{.core_type = core.type,
                                              .sequencer_type = sequencer.type,
                                              .fingerprint = FingerprintOf(snapshot, core),
                                              .launch_id = core.launch_id,
                                              .tag = sequencer.tag,
                                              .pc = *sequencer.pc}];
      ++standing.cores;
      if (sequencer.hlo.has_value()) standing.hlo_known = true;
      if (can_answer && (standing.workers.empty() || standing.workers.back() != worker)) {
        standing.workers.push_back(worker);
      }
    }
  }
}

}  // namespace

LaunchesOfRound::LaunchesOfRound(const Snapshot& snapshot) : incarnation_(snapshot.incarnation) {
  for (const Process& process : snapshot.processes) pids_.insert(process.pid);
  if (snapshot.runtime.state != RuntimeState::kServing) return;
  for (const Core& core : snapshot.cores) {
    if (!rapideye::coordinator::InFlight(core)) continue;
    in_flight_[KeyOf(core)] = InFlight{.fingerprint = FingerprintOf(snapshot, core),
                                       .launch_id = core.launch_id,
                                       .stuck_ms = core.stuck_ms};
  }
}

bool LaunchesOfRound::CompletedBy(const Snapshot& later) const {
  if (later.runtime.state != RuntimeState::kServing || later.incarnation != incarnation_) {
    return false;
  }
  return std::any_of(later.cores.begin(), later.cores.end(), [&](const Core& core) {
    auto before = in_flight_.find(KeyOf(core));
    if (before == in_flight_.end()) return false;
    if (!rapideye::coordinator::InFlight(core)) return true;
    if (FingerprintOf(later, core) != before->second.fingerprint) return true;
    if (core.launch_id.has_value() && before->second.launch_id.has_value()) {
      return core.launch_id != before->second.launch_id;
    }
    // Old runtimes give no launch ids: an age that became less shows a new launch.
    return core.stuck_ms.has_value() && before->second.stuck_ms.has_value() &&
           *core.stuck_ms < *before->second.stuck_ms;
  });
}

bool LaunchesOfRound::ReplacedBy(const Snapshot& later) const {
  if (incarnation_.has_value() && later.incarnation.has_value() &&
      *incarnation_ != *later.incarnation) {
    return true;
  }
  return !pids_.empty() && !later.processes.empty() &&
         std::none_of(later.processes.begin(), later.processes.end(),
                      [this](const Process& process) { return pids_.contains(process.pid); });
}

std::vector<WorkerId> ChooseForHlo(const std::map<WorkerId, Snapshot>& snapshots, size_t limit) {
  std::map<Position, Standing> standings;
  for (const auto& [worker, snapshot] : snapshots) AddStandings(worker, snapshot, standings);
  std::vector<const Standing*> rarest_first;
  for (const auto& [position, standing] : standings) {
    if (!standing.hlo_known && !standing.workers.empty()) rarest_first.push_back(&standing);
  }
  std::stable_sort(rarest_first.begin(), rarest_first.end(),
                   [](const Standing* a, const Standing* b) { return a->cores < b->cores; });
  std::set<WorkerId> chosen;
  std::vector<WorkerId> order;
  for (const Standing* standing : rarest_first) {
    // An answer covers the whole process: if a chosen worker stands at this position, too,
    // its answer covers the position.
    const bool covered = std::any_of(standing->workers.begin(), standing->workers.end(),
                                     [&](const WorkerId& w) { return chosen.contains(w); });
    if (covered) continue;
    if (order.size() == limit) break;
    chosen.insert(standing->workers.front());
    order.push_back(standing->workers.front());
  }
  return order;
}

namespace {

// The number of the program in the snapshot's table; absent: no core of it runs that.
std::optional<int32_t> NumberOf(const std::string& fingerprint, const Snapshot& snapshot) {
  const auto found =
      std::find_if(snapshot.programs.begin(), snapshot.programs.end(),
                   [&](const Program& program) { return program.fingerprint == fingerprint; });
  if (found == snapshot.programs.end()) return std::nullopt;
  return static_cast<int32_t>(found - snapshot.programs.begin());
}

// The answer holds all groups of a collective, the snapshot those of the worker's own devices.
void MergeCollectives(const Snapshot& answer, Snapshot& snapshot) {
  for (const Collective& collective : answer.collectives) {
    const auto& named = answer.programs[static_cast<size_t>(collective.program)];
    const std::optional<int32_t> program = NumberOf(named.fingerprint, snapshot);
    if (!program.has_value()) continue;
    const auto known = std::find_if(
        snapshot.collectives.begin(), snapshot.collectives.end(), [&](const Collective& one) {
          return one.program == *program && one.instruction == collective.instruction;
        });
    if (known != snapshot.collectives.end()) {
      known->groups = collective.groups;
      known->pairs = collective.pairs;
    } else if (snapshot.collectives.size() < size_t{Snapshot::kMaxCollectives}) {
      snapshot.collectives.push_back(
          {*program, collective.instruction, collective.groups, collective.pairs});
    }
  }
}

}  // namespace

void MergeHlo(const Snapshot& answer, Snapshot& snapshot) {
  MergeCollectives(answer, snapshot);
  std::map<decltype(KeyOf(Core{})), const Core*> answered;
  for (const Core& core : answer.cores) answered[KeyOf(core)] = &core;
  for (Core& core : snapshot.cores) {
    auto found = answered.find(KeyOf(core));
    if (found == answered.end()) continue;
    const Core& other = *found->second;
    if (FingerprintOf(answer, other) != FingerprintOf(snapshot, core) ||
        other.launch_id != core.launch_id) {
      continue;
    }
    for (Sequencer& sequencer : core.sequencers) {
      for (const Sequencer& named : other.sequencers) {
        if (named.type != sequencer.type || named.index != sequencer.index ||
            named.pc != sequencer.pc || named.tag != sequencer.tag) {
          continue;
        }
        if (named.hlo.has_value()) sequencer.hlo = named.hlo;
        if (named.hlo_text.has_value()) sequencer.hlo_text = named.hlo_text;
        if (named.hlo_waits.has_value()) sequencer.hlo_waits = named.hlo_waits;
      }
    }
  }
}

}  // namespace rapideye::coordinator
