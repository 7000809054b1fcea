#include "agent/sources/pcie/state.h"

#include "agent/sources/counter.h"

namespace rapideye::agent {
void PcieState::Watching(const std::optional<ProcessId>& process) {
  if (!process.has_value() || NameProcess(*process) == process_) return;
  process_ = NameProcess(*process);
  baseline_.reset();
  chips_.clear();
}

void PcieState::Observe(const PcieReading& reading, const JobFacts&, absl::Duration,
                        Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  if (!baseline_.has_value()) baseline_.emplace();
  for (const PcieSample& chip : reading.chips) {
    baseline_->emplace(chip.chip, chip);
    chips_[chip.chip] = chip;
  }
}

void PcieState::AddTo(Snapshot& snapshot, Instant) const {
  for (const auto& [number, now] : chips_) {
    const PcieSample& before = baseline_->at(number);
    snapshot.pcie.push_back({number, Since(before.fatal, now.fatal),
                             Since(before.non_fatal, now.non_fatal),
                             Since(before.correctable, now.correctable)});
  }
}

}  // namespace rapideye::agent
