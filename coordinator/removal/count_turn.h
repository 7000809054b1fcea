// CountTurn adds the decisions and hooks of a turn to the counts of its process.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_COUNT_TURN_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_COUNT_TURN_H_

#include "coordinator/removal/removal_counts.h"
#include "coordinator/removal/remover.h"

namespace rapideye::coordinator {

// Counts a run of a hook that has ended.
inline void CountHook(const Task& task, RemovalCounts& counts) {
  ++(task.state == "done"  ? counts.hooks_succeeded
     : task.state == "due" ? counts.hooks_failed
                           : counts.hooks_given_up);
}

// Counts the decisions and hooks of a turn that succeeded.
inline void CountTurn(const Remover::Report& turn, RemovalCounts& counts) {
  for (const Remover::Decided& decided : turn.decisions) {
    const Action action = decided.decision.action;
    ++(action == Action::kRemove  ? counts.removes
       : action == Action::kWatch ? counts.watches
                                  : counts.refusals);
  }
  for (const auto* tasks : {&turn.ended, &turn.retried}) {
    for (const Task& task : *tasks) CountHook(task, counts);
  }
}

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_COUNT_TURN_H_
