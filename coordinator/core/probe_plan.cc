#include "coordinator/core/probe_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "coordinator/core/limits.h"
#include "coordinator/core/positions.h"
#include "proto/v1/messages.h"

namespace rapideye::coordinator {
namespace {

using Pair = std::pair<WorkerId, WorkerId>;  // the lower one first
using Nics = std::set<std::string>;          // none: all

// True for a connection that delivers no data, or is gone.
bool IsSuspect(const Socket& socket) {
  if (socket.state == SocketState::kSynSent || socket.state == SocketState::kGone) return true;
  return socket.unacked_bytes > 0 &&
         socket.since_ack_ms >= absl::ToInt64Milliseconds(kSuspectSilence);
}

// Finds suspect hosts and connections in the snapshots.
class Suspicions {
 public:
  explicit Suspicions(const Suspects& suspects) : suspects_(suspects) {
    for (const ExpectedWorker& worker : suspects.expected) {
      hosts_[worker.id] = worker.host;
      if (!suspects.snapshots.contains(worker.id)) missing_.push_back(worker.id);
    }
    for (const auto& [worker, snapshot] : suspects.snapshots) {
      for (const Socket& socket : snapshot.sockets) {
        if (IsSuspect(socket) && socket.peer != worker) Suspect(worker, socket);
      }
    }
  }

  // Workers with witnesses first: probes of them prove more than probes of the others.
  std::vector<WorkerId> Missing() const {
    std::vector<WorkerId> missing = missing_;
    std::stable_partition(missing.begin(), missing.end(),
                          [this](const WorkerId& w) { return witnesses_.contains(w); });
    return missing;
  }

  // The witnesses of the worker.
  std::vector<WorkerId> WitnessesOf(const WorkerId& missing) const {
    const auto found = witnesses_.find(missing);
    return found == witnesses_.end() ? std::vector<WorkerId>{} : found->second;
  }

  // The pairs whose hosts have most suspect connections come first; only a few of each host.
  std::vector<Pair> MostSuspectPairs() const {
    std::vector<Pair> pairs;
    for (const auto& [pair, nics] : suspect_pairs_) pairs.push_back(pair);
    const auto weight = [this](const Pair& pair) {
      return std::max(weights_.at(pair.first), weights_.at(pair.second));
    };
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](const Pair& a, const Pair& b) { return weight(a) > weight(b); });
    std::map<WorkerId, size_t> taken;
    std::vector<Pair> chosen;
    for (const Pair& pair : pairs) {
      if (chosen.size() == kMaxProbedPairs) break;
      if (taken[pair.first] >= kMaxPairsOfWorker || taken[pair.second] >= kMaxPairsOfWorker) {
        continue;
      }
      ++taken[pair.first];
      ++taken[pair.second];
      chosen.push_back(pair);
    }
    return chosen;
  }

  const Nics& NicsOf(const Pair& pair) const { return suspect_pairs_.at(pair); }

  std::string HostOf(const WorkerId& worker) const {
    const auto found = hosts_.find(worker);
    return found == hosts_.end() ? "" : found->second;
  }

  bool IsSuspected(const WorkerId& worker) const {
    return weights_.contains(worker) || !suspects_.snapshots.contains(worker);
  }

 private:
  void Suspect(const WorkerId& worker, const Socket& socket) {
    if (!suspects_.snapshots.contains(socket.peer)) {
      // The missing worker is the suspect; a worker that misses it is a good witness.
      witnesses_[socket.peer].push_back(worker);
      return;
    }
    Nics& nics = suspect_pairs_[std::minmax(worker, socket.peer)];
    if (socket.nic.has_value()) nics.insert(*socket.nic);
    ++weights_[worker];
    ++weights_[socket.peer];
  }

  const Suspects& suspects_;
  std::map<WorkerId, std::string> hosts_;
  std::vector<WorkerId> missing_;
  std::map<WorkerId, std::vector<WorkerId>> witnesses_;  // of missing workers
  std::map<Pair, Nics> suspect_pairs_;
  std::map<WorkerId, int> weights_;  // numbers of suspect connections
};

// Keeps the plan within its limits, and within those of each prober.
class ProbeList {
 public:
  void Add(PlannedProbe probe) {
    if (probes_.size() == kMaxProbes) return;
    if (!planned_.emplace(probe.prober, probe.target.peer, probe.target.nic).second) return;
    const auto of_prober = of_prober_.find(probe.prober);
    if (of_prober == of_prober_.end()) {
      if (of_prober_.size() == kMaxProbers) return;
      of_prober_[probe.prober] = 1;
    } else if (of_prober->second++ >= static_cast<size_t>(wire::ProbeRequest::kMaxTargets)) {
      return;
    }
    probes_.push_back(std::move(probe));
  }

  bool empty() const { return probes_.empty(); }
  std::vector<PlannedProbe> Take() { return std::move(probes_); }

 private:
  std::vector<PlannedProbe> probes_;
  std::set<std::tuple<WorkerId, WorkerId, std::optional<std::string>>> planned_;
  std::map<WorkerId, size_t> of_prober_;
};

class Planner {
 public:
  explicit Planner(const Suspects& suspects) : suspects_(suspects), suspicions_(suspects) {}

  std::vector<PlannedProbe> Plan() {
    ProbeMissing();
    for (const Pair& pair : suspicions_.MostSuspectPairs()) {
      ProbePair(pair, suspicions_.NicsOf(pair));
    }
    if (plan_.empty() && suspects_.stands_still) ProbeOutsiders();
    return plan_.Take();
  }

 private:
  void ProbeMissing() {
    size_t probed = 0;
    for (const WorkerId& worker : suspicions_.Missing()) {
      if (probed == kMaxProbedMissing) break;
      if (suspects_.addresses.AddressesOf(worker).empty()) continue;
      ++probed;
      std::vector<WorkerId> witnesses =
          Bystanders({worker}, kWitnesses, suspicions_.WitnessesOf(worker));
      for (const WorkerId& witness : witnesses) Add(witness, worker, {});
      for (size_t i = 0; i + 1 < witnesses.size(); ++i) Add(witnesses[i], witnesses[i + 1], {});
    }
  }

  void ProbePair(const Pair& pair, const Nics& nics) {
    const auto& [a, b] = pair;
    Add(a, b, {});
    Add(b, a, {});
    const std::vector<WorkerId> bystanders = Bystanders({a, b}, kBystanders, {});
    for (const WorkerId& bystander : bystanders) {
      Add(bystander, a, nics);
      Add(bystander, b, nics);
    }
    if (bystanders.size() == kBystanders) Add(bystanders[0], bystanders[1], nics);
  }

  // A worker that stands where few do may wait for its neighbours in other slices.
  void ProbeOutsiders() {
    for (const WorkerId& worker : ChooseForHlo(suspects_.snapshots, kMaxProbedOutsiders)) {
      for (const WorkerId& neighbour : NeighboursInOtherSlices(worker)) {
        ProbePair(std::minmax(worker, neighbour), {});
      }
    }
  }

  // The same task of the slices before and after it.
  std::vector<WorkerId> NeighboursInOtherSlices(const WorkerId& worker) const {
    std::vector<int32_t> slices;
    for (const auto& [id, snapshot] : suspects_.snapshots) {
      if (id.task == worker.task) slices.push_back(id.slice);
    }
    const auto self = std::find(slices.begin(), slices.end(), worker.slice);
    if (self == slices.end()) return {};
    const size_t at = static_cast<size_t>(self - slices.begin());
    std::set<int32_t> neighbours = {slices[(at + 1) % slices.size()],
                                    slices[(at + slices.size() - 1) % slices.size()]};
    neighbours.erase(worker.slice);
    std::vector<WorkerId> workers;
    for (const int32_t slice : neighbours) workers.push_back({slice, worker.task});
    return workers;
  }

  // Workers that answered, are on other hosts than these, and can be probed: first the
  // preferred, then those without suspicion, in the order of the job from the first of
  // `about` on, then the rest.
  std::vector<WorkerId> Bystanders(const std::vector<WorkerId>& about, size_t count,
                                   const std::vector<WorkerId>& preferred) const {
    std::vector<WorkerId> chosen;
    std::set<std::string> hosts;
    for (const WorkerId& worker : about) hosts.insert(suspicions_.HostOf(worker));
    const auto take = [&](const WorkerId& worker) {
      if (chosen.size() == count || suspects_.addresses.AddressesOf(worker).empty()) return;
      if (hosts.insert(suspicions_.HostOf(worker)).second) chosen.push_back(worker);
    };
    for (const WorkerId& worker : preferred) take(worker);
    for (const bool suspected : {false, true}) {
      const auto from = suspects_.snapshots.upper_bound(about.front());
      const auto look = [&](auto begin, auto end) {
        for (auto it = begin; it != end && chosen.size() < count; ++it) {
          if (suspicions_.IsSuspected(it->first) == suspected) take(it->first);
        }
      };
      look(from, suspects_.snapshots.end());
      look(suspects_.snapshots.begin(), from);
    }
    return chosen;
  }

  // Adds a probe for each NIC that both hosts have, or for those of `nics` alone.
  void Add(const WorkerId& prober, const WorkerId& peer, const Nics& nics) {
    if (suspicions_.HostOf(prober) == suspicions_.HostOf(peer)) return;
    const bool control = !suspicions_.IsSuspected(prober) && !suspicions_.IsSuspected(peer);
    const std::vector<wire::HostAddress> from = suspects_.addresses.AddressesOf(prober);
    const std::vector<wire::HostAddress> to = suspects_.addresses.AddressesOf(peer);
    size_t made = 0;
    Nics done;
    for (const wire::HostAddress& address : to) {
      if (made == kMaxNicsOfPair) return;
      if (!nics.empty() && !nics.contains(address.nic)) continue;
      const bool both = std::any_of(from.begin(), from.end(), [&](const wire::HostAddress& own) {
        return own.nic == address.nic && own.address.IsV4() == address.address.IsV4();
      });
      if (!both || !done.insert(address.nic).second) continue;
      ++made;
      plan_.Add({prober, {peer, address.nic, address.address}, control});
    }
    // The hosts name their NICs differently: the routes choose the NIC.
    if (made == 0 && nics.empty() && !from.empty() && !to.empty()) {
      plan_.Add({prober, {peer, std::nullopt, to.front().address}, control});
    }
  }

  const Suspects& suspects_;
  Suspicions suspicions_;
  ProbeList plan_;
};

}  // namespace

std::vector<PlannedProbe> PlanProbes(const Suspects& suspects) { return Planner(suspects).Plan(); }

}  // namespace rapideye::coordinator
