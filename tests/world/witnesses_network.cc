#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/world/witnesses.h"

namespace rapideye::world {
namespace {

constexpr int kProbedPeers = 4;  // of those it exchanges with, and two others

std::string NicName(int nic) { return absl::StrCat("eth", nic + 1); }

std::vector<int> Exchanges(const Shape& shape, int worker) {
  std::vector<int> peers;
  const int slice = shape.slice_of_worker(worker);
  for (int other = 0; other < shape.slices; ++other) {
    if (other != slice && (!shape.stages || std::abs(other - slice) == 1)) {
      peers.push_back(other * shape.hosts + worker % shape.hosts);
    }
  }
  return peers;
}

// The kernel knows a connection to a process that ended; to a process that is frozen the kernel
// goes on delivering until the buffers are full.
Socket DescribeSocket(const Engine& engine, int worker, int peer, int nic, Random& random) {
  const Network& network = engine.network();
  Socket socket;
  socket.peer = engine.plan().shape.id_of(peer);
  socket.nic = NicName(nic);
  socket.state = SocketState::kEstablished;
  socket.retransmits = random.Chance(0.1) ? random.Between(1, 3) : 0;
  const auto stuck = network.stuck().find({worker, peer, nic});
  if (stuck != network.stuck().end()) {
    const double waits = engine.now() - stuck->second.since;
    socket.unacked_bytes = stuck->second.transfers * random.Between(1 << 16, 1 << 22);
    socket.since_ack_ms = static_cast<int64_t>(waits * 1000);
    socket.retransmits += 3 + static_cast<int64_t>(std::log2(1 + waits * 5));
    return socket;
  }
  socket.since_ack_ms =
      static_cast<int64_t>(std::max(0.0, engine.now() - engine.last_progress()) * 1000) +
      random.Between(0, 2000);
  const HostState& other = engine.hosts()[static_cast<size_t>(peer)];
  if (other.process == HostState::Process::kEnded && !other.dead) {
    socket.state = random.Chance(0.5) ? SocketState::kCloseWait : SocketState::kGone;
  }
  const bool asleep =
      other.process == HostState::Process::kStopped || other.process == HostState::Process::kFrozen;
  if (asleep && random.Chance(0.4)) {  // persist timer: probed and answered, window closed
    socket.unacked_bytes = random.Between(1 << 12, 1 << 20);
    socket.since_ack_ms = random.Between(100, 8000);
  }
  return socket;
}

void DescribeIci(const Engine& engine, int worker, Snapshot& snapshot) {
  const Plan& plan = engine.plan();
  const Shape& shape = plan.shape;

  for (int chip = 0; chip < shape.chips; ++chip) {
    for (const char* link : {"x+", "y+"}) {
      snapshot.ici_links.push_back({.chip = chip, .link = link, .health = 0});
    }
  }
  for (const Fault& fault : plan.faults) {
    if (fault.what == Happening::kIciBreaks && engine.fault_time().has_value()) {
      for (const int device : {fault.device, fault.other}) {
        if (shape.worker_of(device) == worker) {
          snapshot.ici_links.push_back({.chip = shape.chip_of(device), .link = "z+", .health = 9});
        }
      }
    }
  }
}

}  // namespace

void DescribeNetwork(const Engine& engine, int worker, Random& random, Snapshot& snapshot) {
  const Plan& plan = engine.plan();
  const Shape& shape = plan.shape;
  const Network& network = engine.network();
  const std::vector<int> exchanges = Exchanges(shape, worker);
  const bool runs = engine.hosts()[static_cast<size_t>(worker)].runs();
  for (int nic = 0; nic < shape.nics; ++nic) {
    const bool carrier = network.HasCarrier(worker, nic);
    snapshot.nics.push_back({.name = NicName(nic),
                             .up = carrier,
                             .carrier_changes = carrier ? 1 : 2,
                             .rx_errors = random.Chance(0.05) ? random.Between(1, 20) : 0,
                             .tx_errors = 0});
  }
  if (plan.evidence.sockets && runs) {
    for (const int peer : exchanges) {
      for (int nic = 0; nic < std::min(shape.nics, shape.chips); ++nic) {
        snapshot.sockets.push_back(DescribeSocket(engine, worker, peer, nic, random));
      }
    }
  }
  if (plan.evidence.probes) {
    std::vector<int> probed = exchanges;
    random.Shuffle(probed);
    probed.resize(std::min<size_t>(probed.size(), kProbedPeers));
    std::set<int> peers(probed.begin(), probed.end());
    for (int i = 0; i < 2; ++i) {
      peers.insert(random.Below(shape.workers()));
    }
    peers.erase(worker);
    for (const int peer : peers) {
      for (int nic = 0; nic < shape.nics; ++nic) {
        Probe probe{.peer = shape.id_of(peer), .nic = NicName(nic)};
        probe.ok = network.Passes(worker, peer, nic) && network.AnswersProbes(worker, peer);
        if (probe.ok) {
          probe.rtt_us = random.Between(80, 900);
        } else {
          probe.error = "timed out";
        }
        snapshot.probes.push_back(std::move(probe));
      }
    }
  }
  if (plan.evidence.ici_health) {
    DescribeIci(engine, worker, snapshot);
  }
}

}  // namespace rapideye::world
