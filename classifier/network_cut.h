// Tells several hosts without a network from one cut between two sets of hosts.
#ifndef RAPIDEYE_CLASSIFIER_NETWORK_CUT_H_
#define RAPIDEYE_CLASSIFIER_NETWORK_CUT_H_

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "classifier/finding.h"
#include "classifier/link_evidence.h"

namespace rapideye::classifier {

// One cut between two sets of hosts, of the smaller of which two hosts or more show broken
// connections, and so of the others: a switch, a rack, a slice's uplink. Within either set
// paths work as far as anybody tells; none works between them. One host or one NIC without
// carrier that explains all of it is no such cut.
struct NetworkCut {
  std::array<std::vector<int>, 2> sides;  // workers, sorted, the smaller side first
  std::vector<WorkerPair> pairs;          // the broken connections between them
};

// Of the broken connections in `open`; absent: they are no one cut. A single probe within a set
// that fails is taken for lost.
std::optional<NetworkCut> FindNetworkCut(const Case& c, const LinkEvidence& links,
                                         const std::map<WorkerPair, const PairEvidence*>& open);

// Makes one finding, DCN_PARTITION, of the findings on hosts (DCN_HOST, a culprit each) if
// something between those hosts and all others explains them: a switch, a rack, a slice's uplink.
// That is so if there are two hosts or more, none of their broken connections is between
// themselves, none of the others was reached, and none of their NICs has lost its carrier. Such a
// finding removes nobody. Otherwise the findings stay as they are, but two hosts that fail at once
// are less likely than something that they share: only the one whose NIC has no carrier stays
// removable.
void JoinIfOneCut(const Case& c, const LinkEvidence& links, std::vector<Finding>& hosts);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_NETWORK_CUT_H_
