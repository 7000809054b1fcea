// SliceGroup holds the states of the cores of one slice: which of them stand together, and where.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_SLICE_GROUP_H_
#define RAPIDEYE_CLASSIFIER_WAIT_SLICE_GROUP_H_

#include <optional>
#include <vector>

#include "classifier/wait/wait_graph.h"

namespace rapideye::classifier {

// Units of a slice that stand at one place in one launch.
struct Cluster {
  std::optional<int64_t> at;  // doubled ordinal; absent: no order relates it
  int place = -1;
  HloClass hlo_class = HloClass::kUnknown;
  std::vector<int> units;  // ascending
};

// The states of a slice's units, before any conclusion is drawn.
struct SliceGroup {
  std::vector<Cluster> clusters;  // running units, largest first; front() is the largest
  std::vector<int> idle;
  std::vector<int> entry;                  // have work, have not begun it
  std::vector<int> unclear;                // in a launch, place unknown
  std::vector<std::optional<int64_t>> at;  // per unit of the slice, from first_unit
  int first_unit = 0;
  int running = 0;
  bool lacks_workers = false;  // nothing is known of some worker

  std::optional<int64_t> AtOf(int unit) const { return at[static_cast<size_t>(unit - first_unit)]; }
};

SliceGroup BuildSliceGroup(const Topology& topology, const Positions& positions,
                           const Divergence& divergence, int slice);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_SLICE_GROUP_H_
