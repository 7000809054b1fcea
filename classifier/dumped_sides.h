// FindDumpedSides compares what the workers have compiled of each module, as XLA's dumps tell where
// no runtime does.
#ifndef RAPIDEYE_CLASSIFIER_DUMPED_SIDES_H_
#define RAPIDEYE_CLASSIFIER_DUMPED_SIDES_H_

#include <string_view>
#include <vector>

#include "classifier/topology.h"

namespace rapideye::classifier {

// One module that some workers of a cohort have compiled to something else than the others.
// Views are into the capture.
struct DumpedSides {
  std::string_view module;
  std::vector<int> odd;   // sorted
  std::vector<int> rest;  // sorted
  bool equal = false;     // both are as many: who is odd is not told
  // One that the other side has not.
  std::string_view odd_fingerprint;
  std::string_view rest_fingerprint;
};

struct DumpedDivergence {
  // Those in which most workers agree; if there are none, those with two halves.
  std::vector<DumpedSides> sides;
  // Modules of which no compilation is that of most.
  std::vector<std::string_view> scattered;
};

// A module may be compiled several times, with other shapes, and one worker may be a
// compilation ahead of another, or have one from a cache: so only workers that have compiled
// it as often as the others, and not the same, are at odds. A program that one worker alone
// has compiled is its own.
DumpedDivergence FindDumpedSides(const Topology& topology);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DUMPED_SIDES_H_
