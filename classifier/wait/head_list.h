// HeadList collects the heads of one slice while they are looked for.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_HEAD_LIST_H_
#define RAPIDEYE_CLASSIFIER_WAIT_HEAD_LIST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "classifier/job/positions.h"
#include "classifier/wait/slice_group.h"
#include "classifier/wait/wait_graph.h"

namespace rapideye::classifier {

// The crowd is the largest cluster of the slice. Refers to what it was made from.
class HeadList {
 public:
  // `group` has a cluster.
  HeadList(const Positions& positions, const SliceGroup& group)
      : positions_(positions), group_(group), leads_(group.at.size(), false) {}

  const Positions& positions() const { return positions_; }
  const SliceGroup& group() const { return group_; }
  const Cluster& crowd() const { return group_.clusters.front(); }
  bool IsCrowd(const Cluster& cluster) const { return &cluster == &crowd(); }
  std::vector<Head>& heads() { return heads_; }
  const std::vector<Head>& heads() const { return heads_; }
  bool empty() const { return heads_.empty(); }

  // Splits units that lead for one reason by their workers.
  void Add(HeadKind kind, const std::vector<int>& units, HloClass hlo_class);
  void Drop(const std::function<bool(const Head&)>& is_dropped);

  // True for a launch before that of the crowd.
  bool Behind(std::optional<int64_t> at) const;
  bool IsHead(const Cluster& cluster) const;
  // True if only heads run: the idle cores beside them have finished, because no core waits.
  bool OnlyHeadsRun() const;

  // True if the units are of one chip, as a bad chip holds them. Cores that wait have company.
  bool OnOneChip(const Cluster& cluster) const;
  bool OnOneWorker(const Cluster& cluster) const;

 private:
  void Mark(const std::vector<int>& units, bool leads);

  const Positions& positions_;
  const SliceGroup& group_;
  std::vector<Head> heads_;
  std::vector<bool> leads_;  // per unit of the slice
};

// Nothing shows that cores there wait for another slice, nor that they wait for nobody.
bool IsLoose(const Cluster& cluster);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_HEAD_LIST_H_
