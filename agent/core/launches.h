// Tracks the launches of every core: the positions of its sequencers and their ages, its last
// changes of position, and its completed launches.
#ifndef RAPIDEYE_AGENT_CORE_LAUNCHES_H_
#define RAPIDEYE_AGENT_CORE_LAUNCHES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/runtime/sample.h"

namespace rapideye::agent {

// Keeps the last kMaxTransitionsPerCore changes of position of every core, as its first sequencer
// shows them: each new position, and the two polls between which the core reached it. That is some
// hundred bytes a core. In health every poll shows another position; the ring is then a
// trace of the last polls, and costs no more.
class Transitions {
 public:
  struct Change {
    absl::Duration seen;                   // the poll that first showed it
    std::optional<absl::Duration> before;  // the last that did not; absent: the first poll
    std::optional<std::string> fingerprint;
    std::optional<int32_t> launch_id;
    std::optional<int64_t> pc;
    std::optional<int64_t> tag;
  };
  using Ring = std::deque<Change>;  // oldest first

  // Samples in the order in which they were taken. Cores that are not in the sample
  // are forgotten.
  void Observe(const RuntimeSample& sample, absl::Duration now);
  void Clear() { rings_.clear(); }

  // Null for a core that was never seen.
  const Ring* Of(int32_t core_id) const;

 private:
  std::map<int32_t, Ring> rings_;  // by core id
  absl::Duration last_sample_;
};

// The position of a sequencer: it is frozen while none of these fields changes.
struct Position {
  std::optional<std::string> fingerprint;
  std::optional<int32_t> launch_id;
  std::optional<int64_t> pc;
  std::optional<int64_t> tag;
  std::optional<int64_t> tracemark;
  std::optional<int64_t> run_id;

  friend bool operator==(const Position&, const Position&) = default;
};

Position PositionOf(const CoreSample& core, const SequencerSample& sequencer);

// A sequencer of this host: core id, type, index.
using SequencerKey = std::tuple<int32_t, SequencerType, int32_t>;
SequencerKey KeyOf(const CoreSample& core, const SequencerSample& sequencer);

// Tracks since when every sequencer has stood at its position. Also remembers the last sample's HLO
// of the sequencer, for as long as it stands at the same position.
class PositionAges {
 public:
  struct Hlo {
    std::optional<std::string> instruction;
    std::optional<std::string> text;
    std::optional<HloWaits> waits;
    std::shared_ptr<const MeetingText> meeting;
  };

  // Sequencers that are not in the sample are forgotten.
  void Observe(const RuntimeSample& sample, absl::Duration now);
  void Clear() { sequencers_.clear(); }

  // The time when its position last changed, or was first seen.
  std::optional<absl::Duration> StillSince(const SequencerKey& key) const;
  // The instruction at its position; null: not known.
  const Hlo* HloOf(const SequencerKey& key) const;

 private:
  struct Standing {
    Position position;
    absl::Duration since;
    std::optional<Hlo> hlo;
  };

  std::map<SequencerKey, Standing> sequencers_;
};

// Launches of one program that have completed on a core since its last sample.
struct Completion {
  std::string fingerprint;
  // Launches of the program that have completed on this core since the agent watches it.
  int64_t total = 0;
  // Time of the launch that samples have shown running, within the polling interval.
  std::optional<absl::Duration> longest;
};

struct LaunchChange {
  std::vector<Completion> completions;
  bool began = false;  // another launch than before is on the core
  // A counter went back or leapt: this is another process, and nothing that was
  // known of the core holds. Nothing else is set then.
  bool counters_restarted = false;
};

// Derives from samples which launches have begun and completed on one core. A launch is
// complete when another has taken its place or the core is idle. Counters tell how many came
// and went unseen between two samples.
class LaunchTracker {
 public:
  LaunchTracker(const CoreSample& core, absl::Duration now);

  LaunchChange Observe(const CoreSample& core, absl::Duration now);
  // Leaves the time so far of the present launch out of its measured length.
  void MeasureAnew(absl::Duration now);

  bool in_launch() const { return running_.has_value(); }
  // The time when a launch last completed here, or the core was first seen.
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

#endif  // RAPIDEYE_AGENT_CORE_LAUNCHES_H_
