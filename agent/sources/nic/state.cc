#include "agent/sources/nic/state.h"

#include <utility>

#include "agent/sources/counter.h"

namespace rapideye::agent {
void NicState::Observe(const NicReading& reading, const JobFacts& job, absl::Duration now,
                       Notices& notices) {
  unavailable_.Observe(reading.unavailable, notices);
  if (!reading.unavailable.empty()) return;
  if (nics_.has_value() && job.last_progress > seen_at_) healthy_ = std::move(nics_);
  nics_.emplace();
  for (const NicSample& nic : reading.nics) nics_->emplace(nic.name, nic);
  seen_at_ = now;
}

void NicState::AddTo(Snapshot& snapshot, Instant) const {
  if (!nics_.has_value()) return;
  for (const auto& [name, now] : *nics_) {
    Nic nic;
    nic.name = name;
    nic.up = now.up;
    if (healthy_.has_value() && healthy_->contains(name)) {
      const NicSample& before = healthy_->at(name);
      if (!now.up && !before.up) continue;
      nic.carrier_changes = Since(before.carrier_changes, now.carrier_changes);
      nic.rx_errors = Since(before.rx_errors, now.rx_errors);
      nic.tx_errors = Since(before.tx_errors, now.tx_errors);
    } else if (!now.up && (healthy_.has_value() || !now.physical)) {
      continue;
    }
    snapshot.nics.push_back(std::move(nic));
  }
  if (!healthy_.has_value()) return;
  for (const auto& [name, before] : *healthy_) {
    if (!before.up || nics_->contains(name)) continue;
    Nic gone;
    gone.name = name;
    snapshot.nics.push_back(std::move(gone));
  }
}

}  // namespace rapideye::agent
