// Relates the launches that the cores of one slice are in, where the cohort's learnt order does
// not.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_SLICE_LAUNCHES_H_
#define RAPIDEYE_CLASSIFIER_WAIT_SLICE_LAUNCHES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "classifier/wait/slice_group.h"

namespace rapideye::classifier {

// Compares launches with the launch of a core of the crowd, which counts as zero: within one
// fingerprint by launch id, otherwise by the launches in either queue.
class LocalOrder {
 public:
  LocalOrder(const Topology& topology, const Positions& positions, int crowd_unit);

  // nullopt: nothing relates the two.
  std::optional<int64_t> At(const Unit& unit) const;

 private:
  const Topology& topology_;
  std::vector<Launch> base_;
};

// Takes a core that reported no launch id, but stands where others of its slice stand, to be in the
// launch most of them are in. `running`: units.
void InferLaunches(const Positions& positions, const std::vector<int>& running, SliceGroup& group);

// Places units in a program that is no part of the cohort's order: the queues show whether they
// are before or behind the launch that most of their slice are in.
void PlaceByQueues(const Topology& topology, const Positions& positions, int crowd_unit,
                   SliceGroup& group);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_SLICE_LAUNCHES_H_
