// AddressBook maps addresses to workers, as far as the workers agree.
#ifndef RAPIDEYE_COORDINATOR_CORE_ADDRESS_BOOK_H_
#define RAPIDEYE_COORDINATOR_CORE_ADDRESS_BOOK_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// What a host says of its addresses is a claim. One that workers on several hosts
// claim is nobody's: bridges of containers have the same address everywhere, and an
// agent that claims another's gains nothing by it. Evidence that nobody can be
// named for is worth less than evidence against the wrong host.
class AddressBook {
 public:
  // In place of what this worker claimed before. It stays once its agent has gone:
  // who is missing is whom others are asked to reach.
  void Claim(const wire::Hello& hello);

  // Whose address it is; of several workers on its host the first one, since what a
  // connection tells is about the host.
  std::optional<WorkerId> WorkerOf(const IpAddress& address) const;
  // Those of the worker's own host alone, as it gave them; empty: none is known.
  std::vector<wire::HostAddress> AddressesOf(const WorkerId& worker) const;

 private:
  using Claimants = std::map<std::string, std::set<WorkerId>>;  // by host

  struct Entry {
    std::string host;
    std::vector<wire::HostAddress> addresses;
  };

  std::map<WorkerId, Entry> workers_;
  absl::flat_hash_map<IpAddress, Claimants> claims_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_ADDRESS_BOOK_H_
