// FindDivergence finds workers that run a program which the rest of their cohort does not run.
#ifndef RAPIDEYE_CLASSIFIER_PROGRAMS_DIVERGENCE_H_
#define RAPIDEYE_CLASSIFIER_PROGRAMS_DIVERGENCE_H_

#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// Workers of a cohort whose running program has no place in the cohort's order and
// can never meet what the rest of their slice runs: the evidence does not show that it
// merely lags behind, or is ahead. A process gives all its cores the same programs, so
// a single odd core on a host is a laggard, never a divergence.
struct ForeignProgram {
  int cohort = 0;
  int program = -1;
  std::vector<int> workers;  // sorted
};

struct Divergence {
  std::vector<ForeignProgram> foreign;  // by cohort, then program
  std::vector<bool> is_foreign;         // per worker
  // Workers whose own queue runs against their cohort's order. Sorted.
  std::vector<int> misordered;
  bool order_proved = false;  // by two queues that contradict each other, without any order
  // Per worker: the program that all its running units are in; -1: no such program, or several.
  std::vector<int> running;
};

Divergence FindDivergence(const Topology& topology, const Positions& positions);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_PROGRAMS_DIVERGENCE_H_
