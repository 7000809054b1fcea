// Builds samples of a runtime, for tests.
#ifndef RAPIDEYE_TESTS_SUPPORT_SAMPLE_BUILDER_H_
#define RAPIDEYE_TESTS_SUPPORT_SAMPLE_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/sources/runtime/sample.h"

namespace rapideye::agent {

// A TensorCore inside a launch.
inline CoreSample Running(int32_t id, std::string fingerprint, int32_t launch_id, int64_t pc) {
  CoreSample core;
  core.id = id;
  core.chip = id;
  core.chip_id = id;
  core.type = CoreType::kTensorCore;
  core.fingerprint = std::move(fingerprint);
  core.launch_id = launch_id;
  SequencerSample sequencer;
  sequencer.type = SequencerType::kTensorCoreSequencer;
  sequencer.pc = pc;
  sequencer.tag = 1;
  core.sequencers.push_back(std::move(sequencer));
  return core;
}

// A TensorCore with nothing to do.
inline CoreSample Idle(int32_t id) {
  CoreSample core;
  core.id = id;
  core.chip = id;
  core.chip_id = id;
  core.type = CoreType::kTensorCore;
  SequencerSample sequencer;
  sequencer.type = SequencerType::kTensorCoreSequencer;
  sequencer.pc = 0;
  core.sequencers.push_back(std::move(sequencer));
  return core;
}

// As the runtime shows it when asked for HLO.
inline CoreSample WithHlo(CoreSample core, const std::string& instruction,
                          const std::string& module) {
  for (SequencerSample& sequencer : core.sequencers) {
    sequencer.hlo = instruction;
    sequencer.module = module;
    sequencer.hlo_text = "HLO: " + instruction + "; HLO module: " + module;
  }
  return core;
}

inline CoreSample WithQueued(CoreSample core, std::vector<QueuedSample> queued) {
  core.queued = std::move(queued);
  return core;
}

inline RuntimeReading Serving(std::vector<CoreSample> cores) {
  RuntimeReading reading;
  reading.health.state = RuntimeState::kServing;
  reading.sample = RuntimeSample{"host", std::move(cores)};
  return reading;
}

inline RuntimeReading NotServing(RuntimeState state, std::string detail) {
  RuntimeReading reading;
  reading.health = {state, std::move(detail)};
  return reading;
}

}  // namespace rapideye::agent

#endif  // RAPIDEYE_TESTS_SUPPORT_SAMPLE_BUILDER_H_
