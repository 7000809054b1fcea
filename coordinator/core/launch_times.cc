#include "coordinator/core/launch_times.h"

#include <algorithm>

namespace rapideye::coordinator {
namespace {

// The most that one heartbeat adds: an agent may claim any number, and sums must not overflow.
constexpr int64_t kMostLaunches = 1'000'000'000;

int64_t MinuteOf(absl::Duration now) { return absl::ToInt64Minutes(now); }

}  // namespace

void LaunchTimes::Add(int64_t launches, absl::Duration took, absl::Duration now) {
  if (launches <= 0 || took <= absl::ZeroDuration()) return;
  launches = std::min(launches, kMostLaunches);
  const auto* bound =
      std::lower_bound(LaunchDurations::kBounds.begin(), LaunchDurations::kBounds.end(),
                       absl::ToDoubleSeconds(took) / static_cast<double>(launches));
  durations_.counts.at(static_cast<size_t>(bound - LaunchDurations::kBounds.begin())) += launches;
  durations_.sum += took;
  const int64_t minute = MinuteOf(now);
  if (buckets_.empty() || buckets_.back().minute < minute) {
    buckets_.push_back({.minute = minute, .launches = {}, .sum = absl::ZeroDuration()});
    if (buckets_.size() > kMinutes) buckets_.pop_front();
  }
  Bucket& bucket = buckets_.back();
  bucket.launches.launches += launches;
  bucket.sum += took;
  bucket.launches.longest = std::max(bucket.launches.longest, took / static_cast<double>(launches));
  bucket.launches.mean = bucket.sum / static_cast<double>(bucket.launches.launches);
}

std::vector<LaunchMinute> LaunchTimes::LastHour(absl::Duration now) const {
  if (buckets_.empty()) return {};
  const int64_t last = MinuteOf(now);
  const int64_t begin =
      std::max(buckets_.front().minute, last - static_cast<int64_t>(kMinutes) + 1);
  std::vector<LaunchMinute> minutes(static_cast<size_t>(std::max<int64_t>(last - begin + 1, 0)));
  for (const Bucket& bucket : buckets_) {
    if (bucket.minute < begin || bucket.minute > last) continue;
    minutes[static_cast<size_t>(bucket.minute - begin)] = bucket.launches;
  }
  return minutes;
}

}  // namespace rapideye::coordinator
