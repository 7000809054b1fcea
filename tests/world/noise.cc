#include "tests/world/noise.h"

#include <algorithm>
#include <utility>

namespace rapideye::world {
namespace {

// Probabilities, each for one thing.
struct Rates {
  double no_snapshot;
  double no_runtime;  // too old, or no answer in time: no cores at all
  double no_queue;
  double no_launch_id;
  double no_instruction;
  double no_module;
  double no_chip_number;
  double no_frozen;
  double failed_probe;
  double stray_line;
  double no_page;
  double no_stack;
  double retransmits;
  double misread_pc;  // of one core, read in the middle of a change
};

constexpr Rates kField = {.no_snapshot = 0.005,
                          .no_runtime = 0.005,
                          .no_queue = 0.02,
                          .no_launch_id = 0.02,
                          .no_instruction = 0.05,
                          .no_module = 0.05,
                          .no_chip_number = 0.01,
                          .no_frozen = 0.02,
                          .failed_probe = 0.003,
                          .stray_line = 0.04,
                          .no_page = 0.03,
                          .no_stack = 0.1,
                          .retransmits = 0.1,
                          .misread_pc = 0.0005};
constexpr Rates kHeavy = {.no_snapshot = 0.03,
                          .no_runtime = 0.02,
                          .no_queue = 0.1,
                          .no_launch_id = 0.1,
                          .no_instruction = 0.25,
                          .no_module = 0.2,
                          .no_chip_number = 0.05,
                          .no_frozen = 0.1,
                          .failed_probe = 0.01,
                          .stray_line = 0.15,
                          .no_page = 0.1,
                          .no_stack = 0.3,
                          .retransmits = 0.3,
                          .misread_pc = 0.003};

const std::vector<std::pair<LogKind, std::string>>& StrayLines() {
  static const auto& lines = *new std::vector<std::pair<LogKind, std::string>>{
      {LogKind::kBenign, "failed call to cuInit: UNKNOWN ERROR (303)"},
      {LogKind::kCoordinationTimeout, "DEADLINE_EXCEEDED: GetKeyValue() timed out, retrying"},
      {LogKind::kMissedHealthChecks, "The task with address 10.0.0.9:8471 missed 2 health checks"},
      {LogKind::kFollowOn, "The program continuator has halted unexpectedly"},
      {LogKind::kNicFault, "ionic_comp_msn cqe with error 4 on eth1"},
  };
  return lines;
}

void SpoilCore(const Rates& rates, bool no_queues, Random& random, Core& core) {
  if (no_queues) {
    core.queued.clear();
  }
  if (random.Chance(rates.no_launch_id)) {
    core.launch_id.reset();
  }
  if (random.Chance(rates.no_chip_number)) {
    core.chip.reset();
  }
  for (Sequencer& sequencer : core.sequencers) {
    if (random.Chance(rates.no_instruction)) {
      sequencer.hlo.reset();
      sequencer.hlo_text.reset();
    }
    if (random.Chance(rates.no_frozen)) {
      sequencer.frozen_ms.reset();
    }
    if (sequencer.pc.value_or(0) != 0 && random.Chance(rates.misread_pc)) {
      *sequencer.pc += 4;
    }
  }
}

void SpoilSnapshot(const Rates& rates, Random& random, Snapshot& snapshot) {
  if (random.Chance(rates.no_runtime)) {
    snapshot.runtime.state = RuntimeState::kUnimplemented;
    snapshot.cores.clear();
  }
  const bool no_queues = random.Chance(rates.no_queue);
  for (Core& core : snapshot.cores) {
    SpoilCore(rates, no_queues, random, core);
  }
  for (rapideye::Program& program : snapshot.programs) {
    if (random.Chance(rates.no_module)) {
      program.module.reset();
    }
  }
  for (Probe& probe : snapshot.probes) {
    if (random.Chance(rates.failed_probe)) {
      probe.ok = false;
      probe.rtt_us.reset();
      probe.error = "timed out";
    }
  }
  for (Socket& socket : snapshot.sockets) {
    if (random.Chance(rates.retransmits)) {
      socket.retransmits += random.Between(1, 12);
    }
  }
  if (random.Chance(rates.stray_line)) {
    const auto& [kind, text] = random.Pick(StrayLines());
    snapshot.log_events.push_back({.kind = kind,
                                   .text = text,
                                   .source = LogSource::kJobLog,
                                   .count = random.Between(1, 4),
                                   .age_ms = random.Between(1000, 900000)});
  }
  if (random.Chance(rates.no_page)) {
    snapshot.progress.reset();
  }
  if (random.Chance(rates.no_stack)) {
    snapshot.stacks.clear();
    snapshot.stacks_missing = "the limit of time was over";
  }
}

}  // namespace

void Spoil(int level, Random& random, Capture& capture) {
  if (level == 0) {
    return;
  }
  const Rates& rates = level == 1 ? kField : kHeavy;
  std::erase_if(capture.snapshots,
                [&](const Snapshot&) { return random.Chance(rates.no_snapshot); });
  for (Snapshot& snapshot : capture.snapshots) {
    SpoilSnapshot(rates, random, snapshot);
  }
}

}  // namespace rapideye::world
