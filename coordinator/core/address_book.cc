#include "coordinator/core/address_book.h"

namespace rapideye::coordinator {

void AddressBook::Claim(const wire::Hello& hello) {
  Entry& entry = workers_[hello.worker];
  for (const wire::HostAddress& old : entry.addresses) {
    const auto claims = claims_.find(old.address);
    if (claims == claims_.end()) continue;  // the Hello had this address twice
    const auto host = claims->second.find(entry.host);
    if (host == claims->second.end()) continue;
    host->second.erase(hello.worker);
    if (host->second.empty()) claims->second.erase(host);
    if (claims->second.empty()) claims_.erase(claims);
  }
  entry = {hello.host, hello.addresses};
  for (const wire::HostAddress& address : entry.addresses) {
    claims_[address.address][entry.host].insert(hello.worker);
  }
}

std::optional<WorkerId> AddressBook::WorkerOf(const IpAddress& address) const {
  const auto claims = claims_.find(address);
  if (claims == claims_.end() || claims->second.size() != 1) return std::nullopt;
  return *claims->second.begin()->second.begin();
}

std::vector<wire::HostAddress> AddressBook::AddressesOf(const WorkerId& worker) const {
  std::vector<wire::HostAddress> addresses;
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return addresses;
  for (const wire::HostAddress& address : found->second.addresses) {
    if (WorkerOf(address.address).has_value()) addresses.push_back(address);
  }
  return addresses;
}

wire::Peers AddressBook::Answer(const wire::WhoIs& question) const {
  wire::Peers answer;
  for (const IpAddress& address : question.addresses) {
    if (const std::optional<WorkerId> worker = WorkerOf(address)) {
      answer.peers.push_back({address, *worker});
    }
  }
  return answer;
}

}  // namespace rapideye::coordinator
