// RemoverPages answers over HTTP whether a remover that runs by itself is at work:
//
//   /metrics   for Prometheus, rapideye_remover_*
//   /healthz   200 while its loop turns or runs a hook, otherwise 503
//   /readyz    200 while it also reaches the fleet history, otherwise 503 and why
//
// Requests are untrusted and change nothing.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_PAGES_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_PAGES_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/removal/hooks.h"
#include "coordinator/removal/policy/policy.h"
#include "coordinator/removal/removal_counts.h"
#include "coordinator/removal/remover.h"
#include "proto/common/clock/clock.h"
#include "proto/common/http/http.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// The longest time between two signs of life, beside a hook's: a history that is away is tried
// every minute, and each try may wait for the network.
inline constexpr absl::Duration kRemoverPatience = absl::Minutes(5);

// Thread-safe.
class RemoverPages {
 public:
  struct Settings {
    RemovalMode mode = RemovalMode::kDryRun;
    absl::Duration hook_timeout;
    std::function<absl::Duration()> now = MonotonicTime;
  };

  explicit RemoverPages(Settings settings);

  // The loop is at work: about to begin a turn, or before and after a hook.
  void NoteLife();
  // A turn has ended, as RemovalLoop's after_turn has it.
  void NoteTurn(const absl::StatusOr<Remover::Report>& turn);

  http::Response Answer(const http::Request& request) const;

 private:
  std::string RenderMetrics() const;
  http::Response Health(bool readiness) const;

  const Settings settings_;
  mutable Mutex mutex_;
  absl::Duration alive_ ABSL_GUARDED_BY(mutex_);      // the last sign of life
  absl::Duration succeeded_ ABSL_GUARDED_BY(mutex_);  // the last turn; at first the start
  std::optional<absl::Status> last_turn_ ABSL_GUARDED_BY(mutex_);
  std::optional<bool> breaker_open_ ABSL_GUARDED_BY(mutex_);
  int64_t turns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failed_turns_ ABSL_GUARDED_BY(mutex_) = 0;
  RemovalCounts counts_ ABSL_GUARDED_BY(mutex_);
};

// Runs hooks, and notes that they begin and end.
class NotingHookRunner final : public HookRunner {
 public:
  // Both arguments outlive this.
  NotingHookRunner(HookRunner& runner, RemoverPages& pages) : runner_(runner), pages_(pages) {}
  HookResult Run(const HookCall& call) override;

 private:
  HookRunner& runner_;
  RemoverPages& pages_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_REMOVER_PAGES_H_
