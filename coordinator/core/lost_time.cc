#include "coordinator/core/lost_time.h"

#include <algorithm>
#include <set>
#include <utility>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

double CountChips(const std::map<WorkerId, Snapshot>& snapshots, size_t expected_workers) {
  size_t workers = 0;
  size_t chips = 0;
  for (const auto& [worker, snapshot] : snapshots) {
    std::set<int32_t> of_worker;
    for (const Core& core : snapshot.cores) {
      if (core.chip.has_value()) of_worker.insert(*core.chip);
    }
    if (of_worker.empty()) continue;
    ++workers;
    chips += std::min(of_worker.size(), kMaxChipsOfWorker);
  }
  if (workers == 0) return 0;
  return static_cast<double>(chips) * static_cast<double>(std::max(workers, expected_workers)) /
         static_cast<double>(workers);
}

void LostTime::Suspect(absl::Duration from, double chips) {
  suspected_from_ = from;
  if (chips > 0) chips_ = chips;
}

void LostTime::Follow(bool hangs, absl::Duration now) {
  if (hangs == hangs_from_.has_value()) return;
  if (hangs) {
    hangs_from_ = std::min(std::exchange(suspected_from_, std::nullopt).value_or(now), now);
  } else {
    Add(now - *hangs_from_, over_);
    hangs_from_.reset();
  }
}

Losses LostTime::Total(absl::Duration now) const {
  Losses total = over_;
  if (hangs_from_.has_value()) Add(now - *hangs_from_, total);
  return total;
}

void LostTime::Add(absl::Duration hung, Losses& losses) const {
  losses.hung += hung;
  losses.of_chips += hung * chips_;
}

}  // namespace rapideye::coordinator
