#include "agent/core/stillness.h"

#include <utility>

namespace rapideye::agent {
namespace {

// The runtime names an instruction by these alone: a tracemark that moves on
// the spot does not change what stands at the pc.
bool SameInstruction(const Position& a, const Position& b) {
  return a.fingerprint == b.fingerprint && a.launch_id == b.launch_id && a.tag == b.tag &&
         a.pc == b.pc;
}

}  // namespace

Position PositionOf(const CoreSample& core, const SequencerSample& sequencer) {
  return {core.fingerprint, core.launch_id,      sequencer.pc,
          sequencer.tag,    sequencer.tracemark, sequencer.run_id};
}

SequencerKey KeyOf(const CoreSample& core, const SequencerSample& sequencer) {
  return {core.id, sequencer.type, sequencer.index};
}

void Stillness::Observe(const RuntimeSample& sample, absl::Duration now) {
  std::map<SequencerKey, Standing> present;
  for (const CoreSample& core : sample.cores) {
    for (const SequencerSample& sequencer : core.sequencers) {
      const SequencerKey key = KeyOf(core, sequencer);
      Standing standing{PositionOf(core, sequencer), now, std::nullopt};
      const auto before = sequencers_.find(key);
      if (before != sequencers_.end()) {
        if (before->second.position == standing.position) standing.since = before->second.since;
        if (SameInstruction(before->second.position, standing.position)) {
          standing.hlo = std::move(before->second.hlo);
        }
      }
      if (sequencer.hlo.has_value() || sequencer.hlo_text.has_value()) {
        standing.hlo = Hlo{sequencer.hlo, sequencer.hlo_text};
      }
      present.emplace(key, std::move(standing));
    }
  }
  sequencers_ = std::move(present);
}

std::optional<absl::Duration> Stillness::StillSince(const SequencerKey& key) const {
  const auto it = sequencers_.find(key);
  if (it == sequencers_.end()) return std::nullopt;
  return it->second.since;
}

const Stillness::Hlo* Stillness::HloOf(const SequencerKey& key) const {
  const auto it = sequencers_.find(key);
  if (it == sequencers_.end() || !it->second.hlo.has_value()) return nullptr;
  return &*it->second.hlo;
}

}  // namespace rapideye::agent
