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
  // The odd ones have compiled all that the rest have, and more: it may be they alone who
  // are in another program, or who have compiled what the rest have from a cache.
  bool more = false;
  // One that the other side has not; with `more` the rest have none of that kind.
  std::string_view odd_fingerprint;
  std::string_view rest_fingerprint;
};

struct DumpedDivergence {
  // Those in which most workers agree; if there are none, those with two halves; failing
  // these, those with workers who have compiled more than the rest.
  std::vector<DumpedSides> sides;
  // Modules of which no compilation is that of most.
  std::vector<std::string_view> scattered;
};

// A module may be compiled several times, with other shapes, and one worker may be a
// compilation ahead of another, or have one from a cache: so workers that have compiled it as
// often as the others, and not the same, are at odds, and those that have compiled more are
// said to have (DumpedSides::more). A program that one worker alone
// has compiled is its own.
DumpedDivergence FindDumpedSides(const Topology& topology);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DUMPED_SIDES_H_
