#include "coordinator/core/look_schedule.h"

#include <algorithm>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void LookSchedule::Plan(const std::string& incident, absl::Duration first, absl::Duration now,
                        absl::Duration excused) {
  if (incident != incident_) {
    Clear();
    incident_ = incident;
  }
  if (++looks_ > kMaxLooks) {
    next_ = absl::InfiniteDuration();
    return;
  }
  interval_ = std::min(looks_ == 1 ? first : 2 * interval_, kLongestLookInterval);
  next_ = now + std::min(interval_, excused);
}

}  // namespace rapideye::coordinator
