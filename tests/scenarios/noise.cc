#include "tests/scenarios/noise.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace rapideye::scenarios {
namespace {

int64_t OldestAge(const Snapshot& snapshot) {
  int64_t age = 0;
  for (const Core& core : snapshot.cores) age = std::max(age, core.stuck_ms.value_or(0));
  return age;
}

// How many workers may still lose what tells who waits. A small job cannot spare
// any: with one of two silent, nobody could say what the other waits for.
int GapBudget(const Noise& noise, const Capture& capture) {
  return static_cast<int>(noise.most_missing *
                          static_cast<double>(capture.header.expected_workers.size()));
}

void RemoveWorkers(const Noise& noise, const std::vector<WorkerId>& spared, Random& random,
                   int& budget, Capture& capture) {
  std::erase_if(capture.snapshots, [&](const Snapshot& snapshot) {
    if (!random.Chance(noise.missing_worker) || budget == 0) return false;
    if (std::find(spared.begin(), spared.end(), snapshot.worker) != spared.end()) return false;
    --budget;
    return true;
  });
}

void AddGaps(const Noise& noise, Random& random, int& budget, Snapshot& snapshot) {
  if (random.Chance(noise.runtime_timed_out)) {
    // Half of the agents have a sample that they took before.
    const bool no_sample = random.Chance(0.5);
    if (!no_sample || budget > 0) snapshot.runtime.state = RuntimeState::kTimedOut;
    if (no_sample && budget > 0) {
      snapshot.cores.clear();
      --budget;
    }
  }
  const bool no_pc = random.Chance(noise.worker_without_pc) && budget > 0;
  if (no_pc) --budget;
  const bool no_launch = random.Chance(noise.worker_without_launch_id);
  for (Core& core : snapshot.cores) {
    if (no_launch) {
      core.launch_id.reset();
      for (QueuedProgram& queued : core.queued) queued.launch_id.reset();
    }
    if (!no_pc) continue;
    for (Sequencer& sequencer : core.sequencers) {
      sequencer.pc.reset();
      sequencer.tag.reset();
      sequencer.hlo.reset();
      sequencer.hlo_waits.reset();
    }
  }
}

void AddBystanderLines(const Noise& noise, Random& random, Snapshot& snapshot) {
  const int64_t age = random.Between(0, std::max<int64_t>(1, OldestAge(snapshot) / 2));
  if (random.Chance(noise.follow_on_line)) {
    snapshot.log_events.push_back(
        {.kind = LogKind::kFollowOn,
         .text = "FAILED_PRECONDITION: The program continuator has halted unexpectedly",
         .source = LogSource::kJobLog,
         .age_ms = age});
  }
  if (random.Chance(noise.old_error_line)) {
    constexpr int64_t kMinuteMs = 60'000;
    snapshot.log_events.push_back(
        {.kind = LogKind::kCopyFailed,
         .text = "INTERNAL: device-to-host copy of 1048576 bytes failed: cancelled, retrying",
         .source = LogSource::kJobLog,
         .age_ms = 3 * OldestAge(snapshot) + random.Between(5 * kMinuteMs, 600 * kMinuteMs)});
  }
  if (random.Chance(noise.coordination_line)) {
    snapshot.log_events.push_back({.kind = LogKind::kCoordinationTimeout,
                                   .text = "DEADLINE_EXCEEDED: Barrier timed out",
                                   .source = LogSource::kJobLog,
                                   .age_ms = age});
  }
}

void AddBystanderCounters(const Noise& noise, Random& random, Snapshot& snapshot) {
  if (random.Chance(noise.retransmits)) {
    for (Socket& socket : snapshot.sockets) {
      if (socket.unacked_bytes == 0) socket.retransmits += random.Between(1, 4);
    }
  }
  if (random.Chance(noise.nic_errors)) {
    for (Nic& nic : snapshot.nics) {
      if (!nic.up || !random.Chance(0.5)) continue;
      nic.rx_errors = nic.rx_errors.value_or(0) + random.Between(1, 40);
      nic.carrier_changes = nic.carrier_changes.value_or(1) + random.Between(0, 2);
    }
  }
  if (random.Chance(noise.correctable_pcie)) {
    for (PcieCounters& pcie : snapshot.pcie) pcie.correctable += random.Between(1, 30);
  }
}

void AddShortInputWait(Random& random, Snapshot& snapshot) {
  if (!snapshot.progress || snapshot.progress->phase != Phase::kStep) return;
  snapshot.progress->phase = Phase::kInput;
  snapshot.progress->input_wait_ms =
      random.Between(20, std::clamp<int64_t>(OldestAge(snapshot) / 6, 21, 8000));
}

// Makes SparseCores idle, although their peers carry work.
void IdleSparseCores(const std::vector<WorkerId>& culprits, Snapshot& snapshot) {
  if (std::find(culprits.begin(), culprits.end(), snapshot.worker) != culprits.end()) return;
  for (Core& core : snapshot.cores) {
    if (core.type == CoreType::kTensorCore || !core.program) continue;
    core.program.reset();
    core.launch_id.reset();
    core.stuck_ms.reset();
    for (Sequencer& sequencer : core.sequencers) sequencer.pc = sequencer.tag = 0;
  }
}

void ShuffleProgramTable(Random& random, Snapshot& snapshot) {
  // The other program has a name if the worker's programs have names.
  Program other{.fingerprint = random.Hex(32)};
  if (!snapshot.programs.empty() && snapshot.programs.front().module) {
    other.module = "jit_eval_step";
  }
  snapshot.programs.push_back(std::move(other));
  std::vector<int32_t> order(snapshot.programs.size());
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(order);
  std::vector<Program> programs(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    programs[static_cast<size_t>(order[i])] = std::move(snapshot.programs[i]);
  }
  snapshot.programs = std::move(programs);
  for (Core& core : snapshot.cores) {
    if (core.program) core.program = order[static_cast<size_t>(*core.program)];
    for (QueuedProgram& queued : core.queued) {
      queued.program = order[static_cast<size_t>(queued.program)];
    }
  }
}

}  // namespace

Noise Noisy() {
  return {.no_learnt_sequence = 0.2,
          .no_cohorts = 0.1,
          .no_hlo = 0.12,
          .no_sockets = 0.15,
          .no_probes = 0.2,
          .no_launch_ids = 0.02,
          .no_module_names = 0.15,
          .missing_worker = 0.02,
          .runtime_timed_out = 0.02,
          .worker_without_pc = 0.01,
          .worker_without_launch_id = 0.02,
          .gap_at_culprit = 0.03,
          .most_missing = 0.15,
          .follow_on_line = 0.05,
          .coordination_line = 0.05,
          .retransmits = 0.15,
          .nic_errors = 0.08,
          .correctable_pcie = 0.1,
          .short_input_wait = 0.05,
          .idle_sparse_cores = 0.05,
          .other_program_table = 0.3,
          .skewed_clock = 0.1};
}

Noise Heavy() {
  return {.no_learnt_sequence = 0.5,
          .no_cohorts = 0.3,
          .no_hlo = 0.45,
          .no_sockets = 0.35,
          .no_probes = 0.45,
          .no_launch_ids = 0.1,
          .no_module_names = 0.35,
          .missing_worker = 0.06,
          .runtime_timed_out = 0.08,
          .worker_without_pc = 0.04,
          .worker_without_launch_id = 0.08,
          .gap_at_culprit = 0.12,
          .most_missing = 0.25,
          .follow_on_line = 0.2,
          .coordination_line = 0.2,
          .old_error_line = 0.05,
          .retransmits = 0.4,
          .nic_errors = 0.25,
          .correctable_pcie = 0.3,
          .short_input_wait = 0.15,
          .idle_sparse_cores = 0.2,
          .other_program_table = 0.5,
          .skewed_clock = 0.3};
}

void AddGapAt(const WorkerId& worker, Random random, Capture& capture) {
  if (random.Chance(0.5)) {
    std::erase_if(capture.snapshots,
                  [&](const Snapshot& snapshot) { return snapshot.worker == worker; });
    return;
  }
  for (Snapshot& snapshot : capture.snapshots) {
    if (snapshot.worker != worker) continue;
    if (snapshot.runtime.state == RuntimeState::kServing) {
      snapshot.runtime.state = RuntimeState::kTimedOut;
    }
    snapshot.cores.clear();
  }
}

void AddNoise(const Noise& noise, const std::vector<WorkerId>& culprits, Random random,
              Capture& capture) {
  constexpr int64_t kDayMs = 86'400'000;
  int budget = GapBudget(noise, capture);
  RemoveWorkers(noise, culprits, random, budget, capture);
  for (Snapshot& snapshot : capture.snapshots) {
    const bool is_culprit =
        std::find(culprits.begin(), culprits.end(), snapshot.worker) != culprits.end();
    if (!is_culprit) {
      AddGaps(noise, random, budget, snapshot);
      AddBystanderLines(noise, random, snapshot);
      AddBystanderCounters(noise, random, snapshot);
      if (random.Chance(noise.short_input_wait)) AddShortInputWait(random, snapshot);
    }
    if (random.Chance(noise.idle_sparse_cores)) IdleSparseCores(culprits, snapshot);
    if (random.Chance(noise.other_program_table)) ShuffleProgramTable(random, snapshot);
    if (random.Chance(noise.skewed_clock) && snapshot.captured_unix_ms) {
      *snapshot.captured_unix_ms += random.Between(-kDayMs, kDayMs);
    }
    random.Shuffle(snapshot.cores);
  }
  random.Shuffle(capture.snapshots);
}

}  // namespace rapideye::scenarios
