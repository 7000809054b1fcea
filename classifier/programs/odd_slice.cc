#include "classifier/programs/odd_slice.h"

#include <algorithm>

namespace rapideye::classifier {

OddSlices::OddSlices(const Topology& topology, const Positions& positions, const ProgramUse& use)
    : topology_(topology),
      positions_(positions),
      use_(use),
      lacks_host_(topology.slices().size(), false) {
  std::vector<int> missing;
  for (int i = 0; i < static_cast<int>(topology.workers().size()); ++i) {
    if (topology.worker(i).snapshot == nullptr) missing.push_back(i);
  }
  if (missing.empty()) return;
  std::vector<bool> reached(topology.workers().size(), false);
  std::vector<bool> failed(topology.workers().size(), false);
  for (const Snapshot& snapshot : topology.capture().snapshots) {
    for (const Probe& probe : snapshot.probes) {
      const int peer = topology.Find(probe.peer);
      if (peer >= 0) (probe.ok ? reached : failed)[static_cast<size_t>(peer)] = true;
    }
  }
  for (int i : missing) {
    const bool out_of_reach = failed[static_cast<size_t>(i)] && !reached[static_cast<size_t>(i)];
    if (out_of_reach) lacks_host_[static_cast<size_t>(topology.worker(i).slice)] = true;
  }
}

bool OddSlices::IsForeignToStep(int slice, int cohort, int program,
                                const std::vector<int>& workers) const {
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(cohort)].order;
  if (!order.complete() || order.Holds(program)) return false;
  if (use_.HoldersOf(cohort, program).by_others) return false;
  // A slice whose hosts disagree over this very program holds the odd host; this slice waits for
  // that one. And a slice that lacks a host waits for the missing host.
  if (use_.IsSplitOver(program) || lacks_host_[static_cast<size_t>(slice)]) return false;
  // Without known cohorts, slices that run other programs may be stages of a pipeline:
  // that is no divergence if some slice holds a host for which its own cores wait.
  const bool given = !topology_.capture().header.cohorts.empty();
  if (!given && (use_.AnySliceTorn() || SlicesInStep(slice, cohort) < 2)) return false;
  if (!use_.InStep(cohort) || !use_.AnotherMayAwait(slice, cohort)) return false;
  return use_.MayMeetAnotherSlice(slice, program) ||
         (use_.WaitTogether(slice, program) && NeverReturns(workers.front(), order));
}

int OddSlices::SlicesInStep(int but, int cohort) const {
  const ProgramOrder& order = topology_.cohorts()[static_cast<size_t>(cohort)].order;
  int slices = 0;
  for (int s = 0; s < static_cast<int>(topology_.slices().size()); ++s) {
    const int program = s == but ? -1 : use_.ProgramOfSlice(s, cohort);
    slices += program >= 0 && order.Holds(program) ? 1 : 0;
  }
  return slices;
}

bool OddSlices::NeverReturns(int worker, const ProgramOrder& order) const {
  const std::vector<Launch>& chain = positions_.RunningChain(worker);
  return chain.size() > 1 && std::none_of(chain.begin(), chain.end(), [&](const Launch& launch) {
           return order.Holds(launch.program);
         });
}

bool OddSlices::IsOddAmongSlices(int slice, int cohort, int program) const {
  const ProgramInfo& own = topology_.programs()[static_cast<size_t>(program)];
  if (own.module.empty() || use_.HoldersOf(cohort, program).by_others) return false;
  if (!use_.MayMeetAnotherSlice(slice, program) || use_.AnySliceTorn()) return false;
  int other = -1;
  int others = 0;
  for (int s = 0; s < static_cast<int>(topology_.slices().size()); ++s) {
    if (s == slice) continue;
    const int theirs = use_.ProgramOfSlice(s, cohort);
    if (theirs < 0 || theirs == program || (other >= 0 && theirs != other)) return false;
    if (!use_.MayMeetAnotherSlice(s, theirs)) return false;
    other = theirs;
    ++others;
  }
  return others >= 2 && topology_.programs()[static_cast<size_t>(other)].module == own.module &&
         !use_.HoldersOf(cohort, other).by_others;
}

}  // namespace rapideye::classifier
