// LaunchTimes records how long launches took in each minute of the last hour.
#ifndef RAPIDEYE_COORDINATOR_CORE_LAUNCH_TIMES_H_
#define RAPIDEYE_COORDINATOR_CORE_LAUNCH_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/core/job_status.h"

namespace rapideye::coordinator {

// Takes the same memory however many workers report. `now`: the steady clock, which never goes
// back.
class LaunchTimes {
 public:
  static constexpr size_t kMinutes = 60;

  // Records that a worker has completed `launches`, or steps where no runtime tells of launches,
  // within `took`: from its last known completion to the present one. Records nothing without
  // launches, or for a time that is not positive.
  void Add(int64_t launches, absl::Duration took, absl::Duration now);

  // The minutes up to the present one, oldest first, at most kMinutes; empty before the first Add.
  // Minutes in which no launch completed are among them, with no launches.
  std::vector<LaunchMinute> LastHour(absl::Duration now) const;

  // All durations since the start. The launches of one heartbeat count as equally long.
  const LaunchDurations& durations() const { return durations_; }

 private:
  struct Bucket {
    int64_t minute = 0;
    LaunchMinute launches;
    absl::Duration sum;
  };

  std::deque<Bucket> buckets_;  // by minute; but for the first, only minutes with launches
  LaunchDurations durations_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LAUNCH_TIMES_H_
