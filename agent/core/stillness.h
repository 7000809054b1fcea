// Since when every sequencer has stood where it stands.
#ifndef RAPIDEYE_AGENT_CORE_STILLNESS_H_
#define RAPIDEYE_AGENT_CORE_STILLNESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "agent/sources/runtime/sample.h"

namespace rapideye::agent {

// Where a sequencer stands: all that must stand still for it to be frozen.
struct Position {
  std::optional<std::string> fingerprint;
  std::optional<int32_t> launch_id;
  std::optional<int64_t> pc;
  std::optional<int64_t> tag;
  std::optional<int64_t> tracemark;
  std::optional<int64_t> run_id;

  friend bool operator==(const Position&, const Position&) = default;
};

Position PositionOf(const CoreSample& core, const SequencerSample& sequencer);

// A sequencer of this host: core id, type, index.
using SequencerKey = std::tuple<int32_t, SequencerType, int32_t>;
SequencerKey KeyOf(const CoreSample& core, const SequencerSample& sequencer);

// Also remembers what the last sample with HLO said about each sequencer, for
// as long as it stands at the same place.
class Stillness {
 public:
  struct Hlo {
    std::optional<std::string> instruction;
    std::optional<std::string> text;
  };

  // Sequencers that are not in the sample are forgotten.
  void Observe(const RuntimeSample& sample, absl::Duration now);
  void Clear() { sequencers_.clear(); }

  // When its position last changed, or when it was first seen.
  std::optional<absl::Duration> StillSince(const SequencerKey& key) const;
  // What is known of the instruction where it stands; null: nothing.
  const Hlo* HloOf(const SequencerKey& key) const;

 private:
  struct Standing {
    Position position;
    absl::Duration since;
    std::optional<Hlo> hlo;
  };

  std::map<SequencerKey, Standing> sequencers_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_STILLNESS_H_
