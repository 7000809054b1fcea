// LookSchedule plans further looks at a job that stands and whose last verdict need not stay: the
// excuse was a pause, no hang was found, or the cause was UNKNOWN.
#ifndef RAPIDEYE_COORDINATOR_CORE_LOOK_SCHEDULE_H_
#define RAPIDEYE_COORDINATOR_CORE_LOOK_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "coordinator/core/events.h"

namespace rapideye::coordinator {

// The digest that operators have been told.
struct ToldDigest {
  std::optional<std::string> incident;
  int64_t revision = 1;
  std::optional<ToldVerdict> verdict = {};  // of that incident; absent: its digest was not seen
  bool repeated_unknown = false;  // the digest is repeated after a restart, and says UNKNOWN

  bool IsOf(const std::string& id) const { return incident == id; }
};

// Each look collects from all workers: the time between two looks doubles up to
// kLongestLookInterval, and there are no more than kMaxLooks. `now` never goes back.
class LookSchedule {
 public:
  // After a look at this incident: the first further look comes in `first`, each later look in
  // twice the time of the one before; none later than in `excused`, when an excuse ends.
  // Another incident begins a schedule of its own.
  void Plan(const std::string& incident, absl::Duration first, absl::Duration now,
            absl::Duration excused = absl::InfiniteDuration());
  // After a verdict: plans the next look, or ends the schedule. A verdict stands unless it is
  // UNKNOWN; NO_HANG was told to nobody, and the job is looked at as long as it `stands`.
  void Follow(const IncidentConcluded& event, bool unknown, bool told, bool stands,
              absl::Duration now);
  // Ends the schedule: the job advances again, or the verdict stands.
  void Clear() { *this = LookSchedule(); }

  bool open() const { return !incident_.empty(); }
  // The incident that the looks belong to; "" unless open.
  const std::string& incident() const { return incident_; }
  // The number of planned looks; more than kMaxLooks: no further look comes.
  int looks() const { return looks_; }
  // The time of the next look; infinite: none comes.
  absl::Duration next() const { return next_; }
  bool Due(absl::Duration now) const { return now >= next_; }

 private:
  std::string incident_;
  int looks_ = 0;
  absl::Duration interval_ = absl::ZeroDuration();
  absl::Duration next_ = absl::InfiniteDuration();
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LOOK_SCHEDULE_H_
