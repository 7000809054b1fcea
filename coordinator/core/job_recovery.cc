#include "coordinator/core/job_recovery.h"

namespace rapideye::coordinator {

bool JobRecovery::Observe(const WorkerId& worker, const std::optional<absl::Duration>& completion) {
  if (!completion.has_value() || *completion < from_) return false;
  recovered_.insert(worker);
  return true;
}

bool JobRecovery::MostRecovered(double running, const HostVotes& hosts) const {
  double recovered = 0;
  for (const WorkerId& worker : recovered_) recovered += hosts.PartOf(worker);
  return IsMost(recovered, running);
}

bool JobRecovery::TakeUnseenStandstill(const std::optional<absl::Duration>& completion) {
  if (!completion.has_value() || *completion <= seen_) return false;
  seen_ = absl::InfiniteDuration();
  return true;
}

void JobRecovery::RecoverAll(const Membership& membership) {
  for (const auto& [id, member] : membership.members()) recovered_.insert(id);
}

bool JobRecovery::IsAbout(const JobIncarnation& job) const {
  size_t restarted = 0;
  size_t same = 0;
  for (const auto& [worker, shown] : shown_) {
    const std::optional<std::string> key = job.KeyOf(worker);
    if (!key.has_value()) continue;
    ++restarted;
    if (*key == shown) ++same;
  }
  return same * 2 > restarted;
}

}  // namespace rapideye::coordinator
