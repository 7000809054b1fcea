// CollectLinks gathers the reports of workers about the connections between them.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_LINK_EVIDENCE_H_
#define RAPIDEYE_CLASSIFIER_WAIT_LINK_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

// A connection between two workers, a < b, and the reports that it is broken. Each set
// holds the workers that reported it; NIC names are those of the reporting worker.
struct PairEvidence {
  std::set<int> failed_probe;  // a or b
  std::set<int> unacked;
  std::set<int> gone;
  std::set<int> pending;            // transfers
  std::set<std::string> bad_nics;   // over which it fails
  std::set<std::string> good_nics;  // over which a probe still succeeds

  bool Broken() const { return !failed_probe.empty() || !unacked.empty(); }
  // The only NIC that fails, if others still reach the peer.
  std::optional<std::string> OnlyNic() const;
};

using WorkerPair = std::pair<int, int>;

struct LinkEvidence {
  std::map<WorkerPair, PairEvidence> pairs;     // those with anything against them
  std::vector<std::vector<int>> broken_peers;   // per worker: peers of broken pairs, ascending
  std::vector<std::vector<int>> reached_peers;  // per worker: peers reached either way, ascending
  std::vector<int> probed;                      // per worker: probes of it by others
  std::vector<int> probed_failed;
  // Per worker: it exchanges data with a peer, and all data that both ends show arrives.
  std::vector<bool> delivers;

  bool Reached(int worker, int peer) const;  // either way
};

// Retransmits alone, acknowledged traffic and short gaps are noise. `still_ms`: for how long the
// job has stood.
LinkEvidence CollectLinks(const Topology& topology, int64_t still_ms);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_LINK_EVIDENCE_H_
