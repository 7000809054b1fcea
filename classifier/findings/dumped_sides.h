// FindDumpedSides compares the compilations of each module among workers, as XLA's dumps show them
// where no runtime does.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_DUMPED_SIDES_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_DUMPED_SIDES_H_

#include <string_view>
#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

// A module that some workers of a cohort have compiled to other programs than the rest.
// Views are into the capture.
struct DumpedSides {
  std::string_view module;
  std::vector<int> odd;   // sorted
  std::vector<int> rest;  // sorted
  bool equal = false;     // both sides are equally large: the odd side is not known
  // The odd workers have compiled all that the rest have, and more: they alone may be in another
  // program, or they compiled afresh what the rest have from a cache.
  bool more = false;
  // A fingerprint that the other side lacks; with `more`, the rest have no such fingerprint.
  std::string_view odd_fingerprint;
  std::string_view rest_fingerprint;
};

struct DumpedDivergence {
  // Modules for which most workers agree; if there are none, modules with two halves; failing
  // these, modules of which some workers have compiled more than the rest.
  std::vector<DumpedSides> sides;
  // Modules without a compilation that most workers share.
  std::vector<std::string_view> scattered;
};

// A module may be compiled several times, with other shapes, and a worker may be a
// compilation ahead of another, or have a compilation from a cache. So workers disagree if
// they have compiled a module equally often, and not the same; workers that have compiled more
// are reported as such (DumpedSides::more). A program that a single worker
// has compiled is that worker's own.
DumpedDivergence FindDumpedSides(const Topology& topology);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_DUMPED_SIDES_H_
