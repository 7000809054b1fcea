// ProcessActivity tracks the work of the training process, and learns its rhythm in health.
#ifndef RAPIDEYE_AGENT_CORE_PROCESS_ACTIVITY_H_
#define RAPIDEYE_AGENT_CORE_PROCESS_ACTIVITY_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/process/state.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// The growth of a counter between two moments.
struct ActivityWindow {
  absl::Duration begun;
  absl::Duration ended;
  int64_t growth = 0;
};

// The last looks at a counter that only grows. Windows that follow one another tell of work only
// at their ends; the window that ends with each look tells at once. Pure.
class LatestGrowth {
 public:
  // Takes any looks, in the order of time; a counter that fell starts anew.
  void Observe(int64_t counter, absl::Duration now);
  // The shortest window of at least kActivityWindow that ends with the last look; absent: the looks
  // are too few.
  std::optional<ActivityWindow> Window() const;
  // True if the counter grew by `least` or more in that window, and likewise since the look before
  // the last: else the growth is over.
  bool GrewBy(int64_t least) const;

 private:
  struct Look {
    absl::Duration at;
    int64_t counter = 0;
  };
  std::deque<Look> looks_;  // oldest first; the first is the youngest of those old enough
};

// The rhythm of one counter of the kernel that only grows. The counter is looked at in windows
// of at least kActivityWindow; a window shows work if the counter grew in it by a good part of what
// it usually grows by, which the heartbeats of services and the writing of logs do not. Pure.
class ActivityRhythm {
 public:
  // A window in which the counter grows by less than `floor` never shows work; one in which it
  // grows by `least` shows that the process does anything at all.
  ActivityRhythm(int64_t floor, int64_t least) : floor_(floor), least_(least) {}

  // Takes any looks, in the order of time; a counter that fell starts anew. True if a window has
  // ended that shows work.
  bool Observe(int64_t counter, absl::Duration now);
  // For use during an incident: the time since the last work is then no measure of health.
  void MeasureAnew() { healthy_since_advance_ = false; }

  // True once enough windows have shown work to know the usual amount.
  bool Learnt() const { return usual_.has_value(); }
  // The time of the last window that showed work; absent: none has.
  const std::optional<absl::Duration>& advanced_at() const { return advanced_at_; }
  // The time of the last look at which the counter was growing by `least` in a window or more,
  // however little that is beside the usual; absent: at none.
  const std::optional<absl::Duration>& grew_at() const { return grew_at_; }
  // The last window that has ended; absent: none has.
  const std::optional<ActivityWindow>& last() const { return last_; }
  // The longest healthy time between two windows with work; absent: none was measured.
  const std::optional<absl::Duration>& longest() const { return longest_; }

 private:
  bool ShowsWork(int64_t growth);

  int64_t floor_;
  int64_t least_;
  LatestGrowth latest_;
  std::optional<int64_t> counter_;  // at the begin of the window
  absl::Duration begun_;
  std::vector<int64_t> recent_;   // growth of the last windows with work, oldest first
  std::vector<int64_t> smaller_;  // later windows above the floor with less than usual
  std::optional<int64_t> usual_;
  std::optional<absl::Duration> advanced_at_;
  std::optional<absl::Duration> grew_at_;
  std::optional<ActivityWindow> last_;
  std::optional<absl::Duration> longest_;
  bool healthy_since_advance_ = true;
};

// Traffic between workers stops in every hang. So do input and output, unless a loop polls a file.
// CPU time goes on wherever a library waits in a loop, as Gloo and XLA do: it counts only where
// neither of the others has a rhythm. Pure, not synchronised.
class ProcessActivity {
 public:
  void Observe(const ProcessReading& reading, absl::Duration now);
  // `bytes_moved` as in SocketReading.
  void ObserveTraffic(int64_t bytes_moved, absl::Duration now);
  void MeasureAnew();

  // How many windows with work the signals that count have shown.
  int64_t advances() const { return advances_; }
  // For a heartbeat; absent while the process is not alive or no rhythm is known.
  std::optional<wire::ProcessActivity> Now(absl::Duration now) const;
  // For a heartbeat: the time since the process did anything but wait, be it another amount or kind
  // of work than in steps; absent while it is not alive or nothing was seen.
  std::optional<absl::Duration> SinceAnyWork(absl::Duration now) const;

 private:
  // Heartbeats of JAX's coordination service are some hundred bytes in five seconds, those of all
  // workers of a small job at its leader a thousand.
  static constexpr int64_t kLeastTraffic = 4 * 1024;
  static constexpr int64_t kLeastTrafficOfAnyWork = 2 * 1024;
  static constexpr int64_t kLeastIo = 16 * 1024;
  // Threads that only wake up to wait again use some ten milliseconds in five seconds.
  static constexpr int64_t kLeastCpuMs = 100;

  // Compares the CPU time of the last window with that of steps. `reads`: input or output show a
  // step in it.
  void ObserveCpu(bool reads, absl::Duration now);
  // Compares the time that the first thread wanted to run with that in steps. On a busy machine
  // CPU time shows only how much of it was to be had.
  void ObserveFirstThread(absl::Duration now);
  // True if the amounts of steps are known, and not those of a start.
  bool StepsAreKnown(absl::Duration now) const;
  std::optional<ProcessId> process_;  // the live process; absent: none
  absl::Duration seen_since_;         // of this process
  ActivityRhythm traffic_{kLeastTraffic, kLeastTrafficOfAnyWork};
  ActivityRhythm io_{kLeastIo, kLeastIo};
  ActivityRhythm cpu_{kLeastCpuMs, kLeastCpuMs};
  LatestGrowth wanted_;
  std::vector<double> cpu_of_steps_;     // cores used in the last windows with steps, oldest first
  std::vector<double> wanted_in_steps_;  // likewise, parts of the window
  // The last window that used far more than steps do, or, before steps are known, anything at all.
  std::optional<absl::Duration> busy_at_;
  int64_t advances_ = 0;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_PROCESS_ACTIVITY_H_
