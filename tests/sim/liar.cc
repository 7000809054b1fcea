#include "tests/sim/liar.h"

#include <algorithm>
#include <variant>

#include "absl/time/time.h"

namespace rapideye::sim {
namespace {

// In a smaller job a worker that advances is more than a tenth, and counts as progress.
constexpr int kLargeJob = 12;

Lie Choose(const Job& job, scenarios::Random& random) {
  const auto lie = static_cast<Lie>(random.Index(static_cast<size_t>(kLies)));
  const bool advances = lie == Lie::kProgress || lie == Lie::kAll;
  return advances && job.layout().workers() < kLargeJob ? Lie::kEvidence : lie;
}

constexpr char kNoIncident[] = "20260101T000000Z-00000000";

}  // namespace

Liar::Liar(const Job& job, int worker, scenarios::Random random)
    : job_(job), worker_(worker), random_(random), lie_(Choose(job, random_)) {}

void Liar::Falsify(wire::AgentMessage& message) {
  if (auto* hello = std::get_if<wire::Hello>(&message)) {
    Falsify(*hello);
  } else if (auto* heartbeat = std::get_if<wire::Heartbeat>(&message)) {
    Falsify(*heartbeat);
  } else if (auto* reply = std::get_if<wire::SnapshotReply>(&message)) {
    Falsify(reply->snapshot);
  } else if (auto* hlo = std::get_if<wire::HloReply>(&message)) {
    if (hlo->snapshot.has_value()) Falsify(*hlo->snapshot);
  } else if (auto* probes = std::get_if<wire::ProbeReply>(&message)) {
    // The liar claims that it can reach no peer.
    for (Probe& probe : probes->probes) {
      if (Lies(Lie::kEvidence)) probe.ok = false;
    }
  }
}

void Liar::Falsify(wire::Hello& hello) {
  const scenarios::Layout& layout = job_.layout();
  if (Lies(Lie::kShape)) {
    hello.slices = layout.slices + static_cast<int32_t>(random_.Between(1, 50));
    hello.tasks_per_slice = layout.tasks + static_cast<int32_t>(random_.Between(1, 50));
  }
  if (lie_ == Lie::kMachine || (lie_ == Lie::kAll && random_.Chance(0.1))) {
    const scenarios::Machine& other =
        layout.machines[static_cast<size_t>(random_.Index(layout.machines.size()))];
    hello.host = other.host;
    hello.node = other.node;
    hello.hardware = other.hardware;
  }
  if (Lies(Lie::kTime)) {
    hello.agent_incarnation += absl::ToInt64Microseconds(absl::Hours(random_.Between(0, 20)));
    // The liar claims to remember an incident that never was.
    hello.incident = wire::IncidentMemory{.incident = kNoIncident, .concluded = true};
  }
}

void Liar::Falsify(wire::Heartbeat& heartbeat) {
  if (Lies(Lie::kProgress)) {
    completed_ = std::max(completed_, heartbeat.launches_completed) + random_.Between(1, 20);
    heartbeat.launches_completed = completed_;
    heartbeat.since_completion = absl::Milliseconds(random_.Between(0, 50));
    heartbeat.launch_in_flight = random_.Chance(0.5);
    heartbeat.attentive = false;
  }
  if (Lies(Lie::kEnd)) {
    heartbeat.runtime.state =
        random_.Chance(0.5) ? RuntimeState::kUnavailable : RuntimeState::kTimedOut;
    heartbeat.launch_in_flight = false;
  }
  if (Lies(Lie::kTime)) {
    heartbeat.since_completion = absl::Hours(random_.Between(0, 1000));
    heartbeat.longest_pause = absl::Hours(random_.Between(1, 1000));
    heartbeat.longest_unannounced_pause = heartbeat.longest_pause;
    for (wire::ProgramStatistics& program : heartbeat.programs) {
      program.longest = absl::Hours(random_.Between(1, 1000));
    }
  }
}

void Liar::Falsify(Snapshot& snapshot) {
  if (Lies(Lie::kProgress)) {
    for (Core& core : snapshot.cores) {
      core.stuck_ms = random_.Between(0, 100);
      if (core.launch_id.has_value()) {
        core.launch_id = static_cast<int32_t>(random_.Between(-100'000, 100'000));
      }
      for (Sequencer& sequencer : core.sequencers) {
        sequencer.frozen_ms = 0;
        sequencer.pc = random_.Between(0, 100'000);
      }
    }
  }
  if (Lies(Lie::kMachine)) {
    const scenarios::Layout& layout = job_.layout();
    const scenarios::Machine& other =
        layout.machines[static_cast<size_t>(random_.Index(layout.machines.size()))];
    snapshot.host = other.host;
    snapshot.hardware = other.hardware;
    snapshot.direct_evidence = true;
  }
  if (Lies(Lie::kEvidence)) AddEvidence(snapshot);
  if (Lies(Lie::kEnd)) {
    snapshot.runtime.state = RuntimeState::kUnavailable;
    snapshot.cores.clear();
    Process& process = snapshot.processes.emplace_back();
    process.pid = 4711;
    process.state = ProcessState::kExited;
    process.signal = 9;
    process.exited_ms_ago = random_.Between(0, 100'000);
  }
  if (Lies(Lie::kTime)) {
    snapshot.captured_unix_ms = random_.Between(0, 4'000'000'000'000);
    for (LogEvent& event : snapshot.log_events) event.age_ms = random_.Between(0, 1'000'000'000);
    for (Core& core : snapshot.cores) core.stuck_ms = random_.Between(0, 1'000'000'000);
  }
}

// Adds evidence against the liar's own chips, and against everybody else.
void Liar::AddEvidence(Snapshot& snapshot) {
  snapshot.direct_evidence = true;
  for (int32_t chip = 0; chip < 4; ++chip) {
    snapshot.pcie.push_back({chip, random_.Between(0, 9), random_.Between(0, 9), 0});
  }
  for (const scenarios::Machine& other : job_.layout().machines) {
    LogEvent& event = snapshot.log_events.emplace_back();
    event.kind = random_.Chance(0.5) ? LogKind::kKernelHardware : LogKind::kMissedHealthChecks;
    event.source = random_.Chance(0.5) ? LogSource::kKernelLog : LogSource::kPlatform;
    event.text = other.host + ": uncorrectable error";
    event.peer_host = other.host;
    event.chip = static_cast<int32_t>(random_.Between(0, 3));
    event.age_ms = random_.Between(0, 100'000);
    if (other.id == job_.layout().Id(worker_)) continue;
    Socket& socket = snapshot.sockets.emplace_back();
    socket.peer = other.id;
    socket.state = SocketState::kGone;
    socket.unacked_bytes = 100'000;
    socket.since_ack_ms = 100'000;
    socket.retransmits = 99;
  }
}

}  // namespace rapideye::sim
