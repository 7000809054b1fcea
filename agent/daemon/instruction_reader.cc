#include "agent/daemon/instruction_reader.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/synchronization/notification.h"

namespace rapideye::agent {
namespace {

struct Answer {
  absl::Notification there;
  WaitsOfInstructions waits;
};

InstructionsOfModules NamedIn(const RuntimeSample& sample) {
  InstructionsOfModules named;
  for (const CoreSample& core : sample.cores) {
    for (const SequencerSample& sequencer : core.sequencers) {
      if (!sequencer.module.has_value() || !sequencer.hlo.has_value()) continue;
      named[*sequencer.module].insert(*sequencer.hlo);
    }
  }
  return named;
}

const InstructionWait* Of(const WaitsOfInstructions& waits, const SequencerSample& sequencer) {
  if (!sequencer.module.has_value() || !sequencer.hlo.has_value()) return nullptr;
  const auto module = waits.find(*sequencer.module);
  if (module == waits.end()) return nullptr;
  const auto found = module->second.find(*sequencer.hlo);
  return found == module->second.end() ? nullptr : &found->second;
}

}  // namespace

InstructionReader::InstructionReader(const std::string& directory)
    : waits_(directory.empty() ? nullptr : std::make_shared<InstructionWaits>(directory)) {}

InstructionReader::~InstructionReader() {
  worker_.Drop();
  worker_.Stop(absl::ZeroDuration());
}

void InstructionReader::AddWaits(RuntimeSample& sample, absl::Duration patience) {
  InstructionsOfModules named = NamedIn(sample);
  if (waits_ == nullptr || named.empty()) return;
  const auto answer = std::make_shared<Answer>();
  const bool posted =
      worker_.PostLatest([waits = waits_, answer, named = std::move(named), patience] {
        answer->waits = waits->Find(named, patience);
        answer->there.Notify();
      });
  if (!posted || !answer->there.WaitForNotificationWithTimeout(patience)) return;
  for (CoreSample& core : sample.cores) {
    for (SequencerSample& sequencer : core.sequencers) {
      // The text of the module says more than that of the instruction alone.
      const InstructionWait* wait = Of(answer->waits, sequencer);
      if (wait == nullptr) continue;
      if (wait->waits.has_value()) sequencer.hlo_waits = wait->waits;
      sequencer.meeting = wait->meeting;
    }
  }
}

}  // namespace rapideye::agent
