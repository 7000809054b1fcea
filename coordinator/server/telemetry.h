// Telemetry counts the work of the coordinator's shells, beside the counters of core and
// keeper.
#ifndef RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_
#define RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_

#include <atomic>
#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "classifier/verdict.h"
#include "proto/common/metrics/duration_histogram.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Thread-safe.
class Telemetry {
 public:
  // The coordinator ended a stream, with this status.
  void CountClose(absl::StatusCode code);
  std::map<absl::StatusCode, int64_t> Closes() const;

  // A capture was classified.
  void CountVerdict(Cause cause, absl::Duration took);
  std::map<Cause, int64_t> Verdicts() const;
  const metrics::DurationHistogram& classifications() const { return classifications_; }

  // An incident came to disk.
  void CountWrite(absl::Duration took) { writes_.Observe(took); }
  const metrics::DurationHistogram& writes() const { return writes_; }

  // The thread that owns the core is at work, at `now` (steady clock).
  void NoteTurn(absl::Duration now) { last_turn_ns_ = absl::ToInt64Nanoseconds(now); }
  // The program has been asked to end.
  void NoteStopping() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // Infinite before the first turn.
  absl::Duration SinceTurn(absl::Duration now) const;

 private:
  mutable Mutex mutex_;
  std::map<absl::StatusCode, int64_t> closes_ ABSL_GUARDED_BY(mutex_);
  std::map<Cause, int64_t> verdicts_ ABSL_GUARDED_BY(mutex_);
  metrics::DurationHistogram classifications_;
  metrics::DurationHistogram writes_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int64_t> last_turn_ns_ = INT64_MIN;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_
