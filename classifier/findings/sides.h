// DivergedSides splits a cohort whose programs diverged into its two sides.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_SIDES_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_SIDES_H_

#include <vector>

#include "classifier/findings/finding.h"

namespace rapideye::classifier {

// One cohort split by the programs of its workers. `odd` is the smaller side.
struct Sides {
  int cohort = 0;
  int odd_program = -1;
  int rest_program = -1;
  std::vector<int> odd;      // sorted
  std::vector<int> rest;     // sorted
  bool equal = false;        // both sides are as many
  bool same_module = false;  // compiled differently, not written differently
  bool named = false;        // both modules are known, or the places tell
  bool order_known = false;  // the cohort's order of programs is known
};

// True if the worker, whose cores are in a launch, is further on than the other one.
bool IsAhead(const Case& c, int worker, int other);

// True if all its cores, which are in a launch, wait for their slice or for a SparseCore.
bool WaitsInSlice(const Case& c, int worker);

// One entry per program that has no place in its cohort's order, the fewest workers first.
std::vector<Sides> DivergedSides(const Case& c);

// Culprits (at most ten of the smaller side; one of each if they are equal),
// evidence and the sentence (classifier/CAUSES.md, "Different module").
void DescribeSides(const Case& c, const Sides& sides, Finding& finding);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_SIDES_H_
