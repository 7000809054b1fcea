// Telemetry counts the work of the coordinator's shells, beside the counters of core and
// pipeline.
#ifndef RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_
#define RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_

#include <atomic>
#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/store/digest_times.h"
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

  // A digest is in the log: from the last progress to the alarm (absent: not known, or a further
  // look), from the alarm to the evidence, from the evidence to the digest.
  void CountDigest(const DigestTimes& times) {
    if (times.detection.has_value()) detections_.Observe(*times.detection);
    collections_.Observe(times.collection);
    digests_.Observe(times.digest);
  }
  const metrics::DurationHistogram& detections() const { return detections_; }
  const metrics::DurationHistogram& collections() const { return collections_; }
  const metrics::DurationHistogram& digests() const { return digests_; }

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
  // Buckets from a halt that is reported at once to a start-up that is waited for.
  metrics::DurationHistogram detections_{{0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 900, 1800, 3600}};
  metrics::DurationHistogram collections_{{0.5, 0.75, 1, 1.5, 2.5, 5, 10, 20, 60}};
  metrics::DurationHistogram digests_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int64_t> last_turn_ns_ = INT64_MIN;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_TELEMETRY_H_
