// Asks the platform about this host: cloud, cluster or scheduler.
#ifndef RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/platform/state.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/periodic_worker.h"

namespace rapideye::agent {

// Asks all platforms of the options, one after the other; each answer takes at most
// kPlatformDeadline. Thread-safe.
PlatformReading AskPlatforms(const PlatformOptions& options, absl::Time now);

// Asks on a thread of its own, since a network may hang; a look gets the last answer, once. A look
// that is the only one waits for the first answer.
class PlatformFetcher final : public Fetcher<PlatformReading> {
 public:
  explicit PlatformFetcher(PlatformOptions options);

  std::optional<PlatformReading> Fetch(const HostLook& look, absl::Duration now,
                                       HostFindings& found) override;

 private:
  absl::Duration Ask();

  const PlatformOptions options_;
  Mutex mutex_;
  ConditionVariable answered_;
  std::optional<PlatformReading> answer_ ABSL_GUARDED_BY(mutex_);
  PeriodicWorker worker_;  // last: it uses the others
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_H_
