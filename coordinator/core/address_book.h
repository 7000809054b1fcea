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

// The addresses that a host reports are claims. An address that workers on several hosts
// claim belongs to none: bridges of containers have the same address everywhere, and an
// agent gains nothing by claiming another's. Evidence without a name is worth more than
// evidence against the wrong host.
class AddressBook {
 public:
  // Replaces this worker's earlier claims. They stay when its agent disconnects: other
  // workers are asked to probe a missing one.
  void Claim(const wire::Hello& hello);

  // The worker with this address; the first one of several on its host, because a
  // connection identifies a host only.
  std::optional<WorkerId> WorkerOf(const IpAddress& address) const;
  // Answers with those addresses of the question that are known.
  wire::Peers Answer(const wire::WhoIs& question) const;
  // Addresses of the worker's own host alone, as its agent gave them; empty: none is known.
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
