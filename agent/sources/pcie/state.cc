#include "agent/sources/pcie/state.h"

#include "agent/sources/counter.h"

namespace rapideye::agent {
void PcieState::Watching(const std::optional<std::string>& process) {
  if (!process.has_value() || *process == process_) return;
  process_ = *process;
  baseline_.reset();
  chips_.clear();
  if (!kept_.has_value() || kept_->process != process_) return;
  baseline_.emplace();
  for (const PcieSample& chip : kept_->chips) baseline_->emplace(chip.chip, chip);
}

void PcieState::Observe(const PcieReading& reading) {
  if (!baseline_.has_value()) baseline_.emplace();
  for (const PcieSample& chip : reading.chips) {
    baseline_->emplace(chip.chip, chip);
    chips_[chip.chip] = chip;
  }
}

std::optional<CounterBaseline> PcieState::baseline() const {
  if (!baseline_.has_value() || baseline_->empty()) return std::nullopt;
  CounterBaseline baseline{process_, {}};
  for (const auto& [number, chip] : *baseline_) baseline.chips.push_back(chip);
  return baseline;
}

void PcieState::Describe(Snapshot& snapshot) const {
  for (const auto& [number, now] : chips_) {
    const PcieSample& before = baseline_->at(number);
    snapshot.pcie.push_back({number, Since(before.fatal, now.fatal),
                             Since(before.non_fatal, now.non_fatal),
                             Since(before.correctable, now.correctable)});
  }
}

}  // namespace rapideye::agent
