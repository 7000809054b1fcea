#include "coordinator/core/host_votes.h"

namespace rapideye::coordinator {
namespace {

constexpr double kRounding = 1e-6;

}  // namespace

void HostVotes::Join(const WorkerId& worker, const std::string& host) {
  Leave(worker);
  hosts_[worker] = host;
  ++workers_of_[host];
}

void HostVotes::Leave(const WorkerId& worker) {
  const auto host = hosts_.find(worker);
  if (host == hosts_.end()) return;
  if (--workers_of_[host->second] == 0) workers_of_.erase(host->second);
  hosts_.erase(host);
}

double HostVotes::PartOf(const WorkerId& worker) const {
  const auto host = hosts_.find(worker);
  if (host == hosts_.end() || workers_of_.size() == 1) return 1;
  return 1 / static_cast<double>(workers_of_.at(host->second));
}

double HostVotes::All() const {
  return static_cast<double>(workers_of_.size() == 1 ? hosts_.size() : workers_of_.size());
}

bool IsMost(double votes, double all) { return 2 * votes > all + kRounding; }

bool AtLeast(double votes, double least) { return votes > least - kRounding; }

}  // namespace rapideye::coordinator
