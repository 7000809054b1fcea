// Tells several hosts without a network from one cut between two sets of hosts.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_NETWORK_CUT_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_NETWORK_CUT_H_

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "classifier/findings/finding.h"
#include "classifier/wait/link_evidence.h"

namespace rapideye::classifier {

// A single cut between two sets of hosts: a switch, a rack, a slice's uplink. At least two hosts
// of either set show broken connections. Within either set, paths work as far as the evidence
// shows; between the sets none works. If one host, or one NIC without carrier, explains all
// broken connections, there is no such cut.
struct NetworkCut {
  std::array<std::vector<int>, 2> sides;  // workers, sorted, the smaller side first
  std::vector<WorkerPair> pairs;          // the broken connections between them
};

// Finds a cut that explains the broken connections in `open`; absent: there is none. A single
// failed probe within a set is taken for a lost packet.
std::optional<NetworkCut> FindNetworkCut(const Case& c, const LinkEvidence& links,
                                         const std::map<WorkerPair, const PairEvidence*>& open);

// Makes one finding, DCN_PARTITION, of the findings on hosts (DCN_HOST, a culprit each) if
// something between those hosts and all others explains them: a switch, a rack, a slice's uplink.
// The conditions: there are two hosts or more, none of their broken connections is between
// themselves, none of the other hosts was reached, and none of their NICs has lost its carrier.
// That finding removes nobody. Otherwise the findings stay as they are, but two failed hosts at
// once are less likely than a failed part that they share: only a host whose NIC has no carrier
// stays removable.
void JoinIfOneCut(const Case& c, const LinkEvidence& links, std::vector<Finding>& hosts);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_NETWORK_CUT_H_
