#include <algorithm>
#include <array>
#include <set>

#include "tests/scenarios/evidence.h"

namespace rapideye::scenarios {
namespace {

constexpr std::array<const char*, 2> kDcnNics = {"eth1", "eth2"};

bool Contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool NicBroken(const Plan& plan, int worker, const std::string& nic) {
  if (Contains(plan.dead_hosts, worker) || Contains(plan.lost_workers, worker)) return true;
  return std::any_of(plan.nic_faults.begin(), plan.nic_faults.end(), [&](const NicFault& fault) {
    return fault.worker == worker && fault.nic == nic;
  });
}

// A link that is broken without a broken NIC or host is broken over every NIC.
bool PathBroken(const Plan& plan, int worker, int peer, const std::string& nic) {
  if (NicBroken(plan, worker, nic) || NicBroken(plan, peer, nic)) return true;
  if (!plan.nic_faults.empty() || !plan.dead_hosts.empty()) return false;
  return std::any_of(plan.faults.links.begin(), plan.faults.links.end(), [&](const DeadLink& link) {
    return (link.worker == worker && link.peer == peer) ||
           (link.worker == peer && link.peer == worker);
  });
}

// As seen by `observer`: once the observer's own process has gone, the report on its sockets
// is from before.
bool ProcessGone(const Scene& scene, int observer, int worker) {
  if (scene.aborted[static_cast<size_t>(worker)] && !scene.aborted[static_cast<size_t>(observer)]) {
    return true;
  }
  return std::any_of(scene.plan.ends.begin(), scene.plan.ends.end(),
                     [&](const ProcessEnd& end) { return end.worker == worker; });
}

int PeerWorker(const Layout& layout, int worker, int slice_offset) {
  const int slice = (layout.SliceOfWorker(worker) + slice_offset + layout.slices) % layout.slices;
  return layout.Worker(slice, layout.TaskOfWorker(worker));
}

// The exchange that some device of `worker` has come to and not left, if it
// sends to `peer` (or receives from it); and since when.
struct Pending {
  const Op* op = nullptr;
  int64_t since_ms = 0;
  int64_t launch = 0;
};
Pending PendingExchange(const Scene& scene, int worker, int peer, TransferDirection direction) {
  const Layout& layout = scene.plan.job.layout;
  const int64_t now = scene.sampled_ms[static_cast<size_t>(worker)];
  for (int i = 0; i < layout.devices_per_worker(); ++i) {
    const Arrival at = scene.world.At(layout.FirstDevice(worker) + i, now);
    if (at.launch < 0 || at.op < 0) continue;
    const Instance instance = scene.world.InstanceAt(worker, at.launch);
    const Program& program = scene.plan.job.programs[static_cast<size_t>(instance.program)];
    const Op& op = program.ops[static_cast<size_t>(at.op)];
    if (op.kind != OpKind::kExchange) continue;
    const int offset = direction == TransferDirection::kSend ? op.send_to : op.receive_from;
    if (offset != 0 && PeerWorker(layout, worker, offset) == peer) {
      return {&op, at.at_ms, instance.run};
    }
  }
  return {};
}

void AddSockets(const Scene& scene, int worker, const NetworkOptions& options, Random& random,
                Snapshot& snapshot) {
  const Job& job = scene.plan.job;
  const bool states = random.Chance(0.3);
  const int64_t now = scene.timing.detected_ms;
  for (const int peer : Neighbours(job, worker)) {
    const std::string nic = NicOfPair(options.seed, worker, peer);
    Socket socket{.peer = job.layout.Id(peer),
                  .nic = nic,
                  .state = states ? SocketState::kEstablished : SocketState::kUnspecified};
    const int64_t quiet = std::max<int64_t>(1, std::min<int64_t>(now, scene.timing.threshold_ms));
    socket.since_ack_ms = random.Between(0, quiet);
    if (PathBroken(scene.plan, worker, peer, nic)) {
      const Pending send = PendingExchange(scene, worker, peer, TransferDirection::kSend);
      if (send.op != nullptr) {
        socket.unacked_bytes = random.Between(80000, 4000000);
        socket.since_ack_ms = std::max<int64_t>(0, now - send.since_ms - random.Between(0, 400));
        socket.retransmits = random.Between(4, 15);
      }
    } else if (ProcessGone(scene, worker, peer)) {
      socket.state = random.Chance(0.6) ? SocketState::kGone : SocketState::kCloseWait;
    }
    snapshot.sockets.push_back(std::move(socket));
  }
}

void AddProbes(const Scene& scene, int worker, Random& random, Snapshot& snapshot) {
  constexpr int kOthers = 2;
  const Layout& layout = scene.plan.job.layout;
  const std::vector<int> neighbours = Neighbours(scene.plan.job, worker);
  std::set<int> peers(neighbours.begin(), neighbours.end());
  for (int i = 0; i < kOthers; ++i)
    peers.insert(random.Index(static_cast<size_t>(layout.workers())));
  peers.erase(worker);
  for (const int peer : peers) {
    for (const char* nic : kDcnNics) {
      Probe probe{.peer = layout.Id(peer), .nic = nic, .ok = true};
      if (PathBroken(scene.plan, worker, peer, nic)) {
        probe.ok = false;
        probe.error = random.Chance(0.5) ? "timed out" : "no route to host";
      } else {
        probe.rtt_us = random.Between(60, 900);
      }
      snapshot.probes.push_back(std::move(probe));
    }
  }
}

void AddNics(const Scene& scene, int worker, Random& random, Snapshot& snapshot) {
  for (const char* name : {"eth0", "eth1", "eth2"}) {
    Nic nic{.name = name, .up = true, .carrier_changes = 1, .rx_errors = 0, .tx_errors = 0};
    for (const NicFault& fault : scene.plan.nic_faults) {
      if (fault.worker != worker || fault.nic != name) continue;
      nic.up = !fault.carrier_lost;
      if (fault.carrier_lost) nic.carrier_changes = 2 + random.Between(0, 3);
      if (random.Chance(0.3)) nic.tx_errors = random.Between(10, 5000);
    }
    snapshot.nics.push_back(std::move(nic));
  }
}

void AddTransfers(const Scene& scene, int worker, uint64_t network_seed, Snapshot& snapshot) {
  const Job& job = scene.plan.job;
  for (const int peer : Neighbours(job, worker)) {
    const Pending receive = PendingExchange(scene, worker, peer, TransferDirection::kRecv);
    const std::string nic = NicOfPair(network_seed, worker, peer);
    const bool broken = PathBroken(scene.plan, worker, peer, nic);
    const Pending send = PendingExchange(scene, worker, peer, TransferDirection::kSend);
    // A message that was delivered is no longer pending, wherever the device stands.
    const bool arrived =
        receive.op != nullptr && !broken &&
        PendingExchange(scene, peer, worker, TransferDirection::kSend).launch == receive.launch;
    const int64_t now = scene.timing.detected_ms;
    if (receive.op != nullptr && !arrived) {
      snapshot.transfers.push_back({.peer = job.layout.Id(peer),
                                    .direction = TransferDirection::kRecv,
                                    .pending_ms = std::max<int64_t>(0, now - receive.since_ms),
                                    .launch_id = receive.launch});
    }
    if (send.op != nullptr && broken) {
      snapshot.transfers.push_back({.peer = job.layout.Id(peer),
                                    .direction = TransferDirection::kSend,
                                    .pending_ms = std::max<int64_t>(0, now - send.since_ms),
                                    .launch_id = send.launch});
    }
  }
}

void AddIciLinks(const Scene& scene, int worker, Snapshot& snapshot) {
  for (int chip = 0; chip < scene.plan.job.layout.chips; ++chip) {
    for (const char* link : {"x+", "y+"}) {
      IciLink state{.chip = chip, .link = link, .health = 0};
      for (size_t i = 0; i < scene.plan.ici_faults.size(); ++i) {
        const IciLink& fault = scene.plan.ici_faults[i];
        if (scene.plan.ici_workers[i] == worker && fault.chip == chip && fault.link == link) {
          state.health = fault.health;
        }
      }
      snapshot.ici_links.push_back(std::move(state));
    }
  }
}

}  // namespace

std::string NicOfPair(uint64_t seed, int worker, int peer) {
  Random random(seed);
  const int style = random.Index(3);
  if (style == 0) return kDcnNics[0];
  if (style == 1) return kDcnNics[static_cast<size_t>(random.Index(2))];
  Random pair(seed ^ (static_cast<uint64_t>(std::min(worker, peer)) << 20) ^
              static_cast<uint64_t>(std::max(worker, peer)));
  return kDcnNics[static_cast<size_t>(pair.Index(2))];
}

std::vector<int> Neighbours(const Job& job, int worker) {
  const Layout& layout = job.layout;
  std::set<int> peers;
  if (layout.slices > 1) {
    const int slice = layout.SliceOfWorker(worker);
    // Pipeline stages do not close a ring.
    if (!job.pipeline || slice > 0) peers.insert(PeerWorker(layout, worker, -1));
    if (!job.pipeline || slice < layout.slices - 1) peers.insert(PeerWorker(layout, worker, +1));
  }
  return {peers.begin(), peers.end()};
}

void AddNetwork(const Scene& scene, int worker, const NetworkOptions& options, Random random,
                Snapshot& snapshot) {
  const bool cross_slice = scene.plan.job.layout.slices > 1;
  if (options.sockets && cross_slice) AddSockets(scene, worker, options, random, snapshot);
  if (options.probes) AddProbes(scene, worker, random, snapshot);
  AddNics(scene, worker, random, snapshot);
  if (options.transfers && cross_slice) AddTransfers(scene, worker, options.seed, snapshot);
  if (options.ici_links) AddIciLinks(scene, worker, snapshot);
}

}  // namespace rapideye::scenarios
