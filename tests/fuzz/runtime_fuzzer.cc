// Reads any bytes as the answer of a TPU runtime, and as its HLO text: what is taken over stays
// within its bounds. The first byte chooses; a zero byte parts the two texts of an instruction.
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "agent/sources/runtime/hlo_text.h"
#include "agent/sources/runtime/limits.h"
#include "agent/sources/runtime/parse.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace rapideye;         // NOLINT: a fuzz target
using namespace rapideye::agent;  // NOLINT

void CheckCore(const CoreSample& core) {
  Require(core.id >= 0 && core.id <= kMaxCoreId, "ids of cores are bounded");
  Require(core.sequencers.size() <= kMaxSequencersPerCore, "sequencers are bounded");
  Require(core.queued.size() <= kMaxQueuedPerCore, "a queue is bounded");
  Require(core.error.value_or("").size() <= kMaxCoreErrorBytes, "an error is bounded");
  Require(!core.fingerprint.has_value() || !core.fingerprint->empty(), "no empty fingerprint");
  for (const SequencerSample& sequencer : core.sequencers) {
    Require(sequencer.hlo_text.value_or("").size() <= kMaxHloTextBytes, "HLO is bounded");
  }
}

void TryAnswer(absl::string_view bytes) {
  const RuntimeReading reading = ParseRuntimeStatus(bytes);
  Require(reading.health.state == RuntimeState::kServing, "a runtime that answers serves");
  Require(reading.health.detail.has_value() || reading.sample.has_value(),
          "what is not taken over is explained");
  if (!reading.sample.has_value()) return;
  Require(reading.sample->cores.size() <= kMaxCores, "cores are bounded");
  std::set<int32_t> ids;
  size_t hlo = 0;
  for (const CoreSample& core : reading.sample->cores) {
    CheckCore(core);
    Require(ids.insert(core.id).second, "no core stands there twice");
    for (const SequencerSample& sequencer : core.sequencers) {
      hlo += sequencer.hlo_text.value_or("").size();
    }
  }
  Require(hlo <= kMaxHloTextBytesPerSample, "all HLO is bounded");
}

void TryHlo(absl::string_view bytes) {
  const size_t end = bytes.find('\0');
  const absl::string_view location = bytes.substr(0, end);
  const absl::string_view detail =
      end == absl::string_view::npos ? absl::string_view() : bytes.substr(end + 1);
  const HloNames names = NamesFromHlo(location, detail);
  Require(names.instruction.value_or("").size() <= bytes.size() &&
              names.module.value_or("").size() <= bytes.size(),
          "a name is a part of the text");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    TryAnswer(bytes);
  } else {
    TryHlo(bytes);
  }
  return 0;
}
