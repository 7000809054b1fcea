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

void LookSchedule::Follow(const IncidentConcluded& event, bool unknown, bool told, bool stands,
                          absl::Duration now) {
  if (event.hang ? !unknown : !told && !stands) return Clear();
  Plan(event.incident_id, event.hang ? kLookAfterUnknown : kLookAfterNoHang, now,
       event.excused.value_or(absl::InfiniteDuration()));
}

}  // namespace rapideye::coordinator
