#include "tests/scenarios/evidence.h"

namespace rapideye::scenarios {

void AddStandbyEvidence(const Scene& scene, Random random, Snapshot& snapshot) {
  constexpr int64_t kHourMs = 3'600'000;
  const Layout& layout = scene.plan.job.layout;
  // Time since the agent first saw the worker.
  const int64_t watched_ms = scene.timing.detected_ms + random.Between(kHourMs / 12, 6 * kHourMs);
  const bool v4 = layout.generation == "v4";
  const auto add = [&](int chip, CoreType type, SequencerType sequencer, int index) {
    Core core{.chip = chip, .type = type, .index = index, .stuck_ms = watched_ms};
    core.sequencers.push_back({.type = sequencer, .pc = 0, .tag = 0, .frozen_ms = watched_ms});
    snapshot.cores.push_back(std::move(core));
  };
  for (int chip = 0; chip < layout.chips; ++chip) {
    for (int i = 0; i < layout.devices_per_chip; ++i) {
      add(chip, CoreType::kTensorCore, SequencerType::kTensorCoreSequencer, i);
    }
    for (int i = 0; i < layout.devices_per_chip * layout.sparse_cores_per_device; ++i) {
      add(chip, v4 ? CoreType::kSparseCoreV0 : CoreType::kSparseCore,
          v4 ? SequencerType::kSparseCoreV0Sequencer : SequencerType::kSparseCoreSequencer, i);
    }
  }
  snapshot.runtime.state = RuntimeState::kServing;
  snapshot.processes.push_back({.pid = random.Between(900, 99000),
                                .command = "python3 train.py",
                                .cpu_ms = random.Between(0, 400),
                                .state = ProcessState::kSleeping});
  for (const char* name : {"eth0", "eth1", "eth2"}) {
    snapshot.nics.push_back(
        {.name = name, .up = true, .carrier_changes = 1, .rx_errors = 0, .tx_errors = 0});
  }
}

}  // namespace rapideye::scenarios
