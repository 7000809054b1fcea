// RuntimeSample holds the TPU runtime's report about its cores, checked and as plain values.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_SAMPLE_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_SAMPLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye::agent {

// The groups of a collective as its program's text numbers partitions, and the device of each
// partition of all slices, by the compilation's device assignment.
struct MeetingText {
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> assignment;
  bool pairs = false;      // of a permutation: every group is a source and its target
  int64_t partitions = 0;  // of the program, by its text
};

struct SequencerSample {
  SequencerType type = SequencerType::kUnspecified;
  int32_t index = 0;  // unique together with type, within its core
  std::optional<int64_t> pc;
  std::optional<int64_t> tag;
  std::optional<int64_t> tracemark;
  std::optional<int64_t> run_id;
  // Present only in a sample taken with HLO.
  std::optional<std::string> hlo;       // name of the instruction at the pc
  std::optional<std::string> module;    // name of the module it belongs to
  std::optional<std::string> hlo_text;  // the runtime's text; bytes, not checked to be UTF-8
  // The wait of a core at that instruction, by the runtime's text or XLA's dump of its module.
  std::optional<HloWaits> hlo_waits;
  // Groups of devices that meet there, by XLA's dump; null: not known.
  std::shared_ptr<const MeetingText> meeting;
};

struct QueuedSample {
  std::string fingerprint;  // lower-case hex, not empty
  std::optional<int32_t> launch_id;
  std::optional<int64_t> run_id;
};

struct CoreSample {
  int32_t id = 0;                  // global core id, unique in a sample
  std::optional<int32_t> chip;     // ordinal on the host; absent rather than guessed
  std::optional<int32_t> chip_id;  // what the runtime calls it
  CoreType type = CoreType::kUnspecified;
  int32_t index = 0;                       // core on the chip
  std::optional<std::string> fingerprint;  // lower-case hex, not empty
  std::optional<int32_t> launch_id;
  std::vector<SequencerSample> sequencers;
  std::vector<QueuedSample> queued;  // oldest first
  std::optional<std::string> error;

  // True while a launch is on the core. An idle core may still name the
  // program that ran last, but has no pc and nothing queued.
  bool InLaunch() const;
};

struct RuntimeSample {
  std::optional<std::string> host_name;
  std::vector<CoreSample> cores;  // by id
};

// One attempt to read the runtime. A runtime that answers nonsense is SERVING, and
// `health.detail` says what was wrong; `sample` holds the usable part.
struct RuntimeReading {
  RuntimeHealth health;
  std::optional<RuntimeSample> sample;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_SAMPLE_H_
