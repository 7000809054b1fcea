// LaunchTracker derives from samples which launches have begun and completed on one core.
#ifndef RAPIDEYE_AGENT_CORE_LAUNCH_TRACKER_H_
#define RAPIDEYE_AGENT_CORE_LAUNCH_TRACKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/runtime/sample.h"

namespace rapideye::agent {

// Launches of one program that have completed on a core since its last sample.
struct Completion {
  std::string fingerprint;
  // All of them on this core since it is watched.
  int64_t total = 0;
  // How long the one took that was seen running, within the polling interval.
  std::optional<absl::Duration> longest;
};

struct LaunchChange {
  std::vector<Completion> completions;
  bool began = false;  // another launch than before is on the core
  // A counter went back or leapt: this is another process, and nothing that was
  // known of the core holds. Nothing else is set then.
  bool counters_restarted = false;
};

// A launch is complete when another has taken its place or the core is idle.
// Counters tell how many came and went unseen between two samples.
class LaunchTracker {
 public:
  LaunchTracker(const CoreSample& core, absl::Duration now);

  LaunchChange Observe(const CoreSample& core, absl::Duration now);
  // How long the launch that runs has taken so far is no measure of anything.
  void MeasureAnew(absl::Duration now);

  bool in_launch() const { return running_.has_value(); }
  // When a launch last completed here, or when the core was first seen.
  absl::Duration last_completion() const { return last_completion_; }
  int64_t completed() const { return completed_; }

 private:
  struct Running {
    std::string fingerprint;
    std::optional<int32_t> launch_id;
    std::optional<int64_t> run_id;  // tells launches apart where no launch id does
    absl::Duration first_seen;
    absl::Duration last_seen;

    bool SameLaunch(const Running& other) const;
  };

  struct Counter {
    std::string fingerprint;
    int32_t next = 0;  // every launch before this one has been counted
    int64_t total = 0;
    absl::Duration seen;
  };

  static std::optional<Running> RunningOn(const CoreSample& core, absl::Duration now);
  bool Plausible(const CoreSample& core, absl::Duration now);
  // Counts launches of the program up to, not including, `next`, from where they
  // were counted last, or from `first` if they never were.
  void CountUpTo(const std::string& fingerprint, int32_t first, int32_t next, absl::Duration now,
                 LaunchChange& change);
  void Count(Counter& counter, int64_t launches, LaunchChange& change);
  Counter* Find(const std::string& fingerprint);
  Counter& FindOrAdd(const std::string& fingerprint, int32_t next, absl::Duration now);

  std::optional<Running> running_;
  std::vector<Counter> counters_;
  absl::Duration last_sample_;
  absl::Duration last_completion_;
  int64_t completed_ = 0;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_LAUNCH_TRACKER_H_
