// HostVotes gives each host one vote, of which each of its workers has an equal part: a host that
// connects many workers has no more votes for it. A host is the certificate of its agents where
// certificates name workers, otherwise the address that they connect from (Membership::VoterOf).
#ifndef RAPIDEYE_COORDINATOR_CORE_HOST_VOTES_H_
#define RAPIDEYE_COORDINATOR_CORE_HOST_VOTES_H_

#include <cstddef>
#include <map>
#include <string>

#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

class HostVotes {
 public:
  // The worker's agent is connected, from this host.
  void Join(const WorkerId& worker, const std::string& host);
  void Leave(const WorkerId& worker);

  // The part of a vote that this worker has. 1 for a worker that is not connected; and for every
  // worker if all come from one address: address translation may then hide several hosts.
  double PartOf(const WorkerId& worker) const;
  // Votes of all connected workers.
  double All() const;

 private:
  std::map<WorkerId, std::string> hosts_;
  std::map<std::string, size_t> workers_of_;
};

// A number of workers, and the votes that they have together.
struct Tally {
  size_t workers = 0;
  double votes = 0;

  void Add(double part) {
    ++workers;
    votes += part;
  }
};

// True if `votes` are more than half of `all`, whatever the rounding of sums of parts.
bool IsMost(double votes, double all);
// True if `votes` are `least` or more, likewise whatever the rounding.
bool AtLeast(double votes, double least);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_HOST_VOTES_H_
