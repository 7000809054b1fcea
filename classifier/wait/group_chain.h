// FollowGroups corrects the heads of a slice by the groups of its collectives, where those are
// known: who is a mate of whom is then read, not inferred from seats.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_GROUP_CHAIN_H_
#define RAPIDEYE_CLASSIFIER_WAIT_GROUP_CHAIN_H_

#include <vector>

#include "classifier/job/partners.h"
#include "classifier/programs/divergence.h"
#include "classifier/wait/slice_group.h"
#include "classifier/wait/wait_graph.h"

namespace rapideye::classifier {

struct GroupChainInput {
  const Topology& topology;
  const Positions& positions;
  const Divergence& divergence;
  const Partners& partners;
};

// Changes nothing if no group is known. What it concludes goes into `reasons`.
//
// A head at a collective that waits for another head is none. Of two that stand alone, one may
// wait for the other if its group says so. If there is no head, and all cores of the slice stand at
// collectives with known groups, the one core that breaks every circle of waits is: collectives
// of one program come in one order, so that their waits make no circle unless some core does not
// wait where it stands.
void FollowGroups(const GroupChainInput& input, const SliceGroup& group, std::vector<Head>& heads,
                  SliceView& view, std::vector<Reason>& reasons);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_GROUP_CHAIN_H_
