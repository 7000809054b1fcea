// FleetClock keeps the time of the fleet history: the same for all processes, and never stepped.
#ifndef RAPIDEYE_COORDINATOR_FLEET_RECORDS_FLEET_CLOCK_H_
#define RAPIDEYE_COORDINATOR_FLEET_RECORDS_FLEET_CLOCK_H_

#include <algorithm>

#include "absl/time/time.h"

namespace rapideye::coordinator {

// Budgets and windows are measured in this time. It begins at the database's own clock, but
// never before the newest time that the history holds, and runs on by this machine's monotonic
// clock: a wall clock that is stepped shortens no window while this lives.
class FleetClock {
 public:
  // `newest`: as from History::Newest, without times further ahead than kLargestClockError: a clock
  // that was wrong once would end all windows.
  FleetClock(absl::Time database_wall, absl::Time newest, absl::Duration monotonic)
      : begin_(std::max(database_wall, newest) - monotonic) {}

  absl::Time At(absl::Duration monotonic) const { return begin_ + monotonic; }

 private:
  absl::Time begin_;  // when the monotonic clock stood at zero
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_RECORDS_FLEET_CLOCK_H_
