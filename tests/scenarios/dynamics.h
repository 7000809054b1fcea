// Simulates a job with something broken until nothing moves: which devices wait for which.
//
// Each device goes through its launches and operations until it must wait. A
// collective waits for every device of the slice to reach the same operation of
// the same launch; an exchange waits for the neighbour's message, and for its own
// to be delivered; a launch waits for its host to dispatch it; a host dispatches
// only so far ahead. What is left standing is the hang. Nothing here knows what a
// victim or a culprit is.
#ifndef RAPIDEYE_TESTS_SCENARIOS_DYNAMICS_H_
#define RAPIDEYE_TESTS_SCENARIOS_DYNAMICS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/scenarios/job.h"

namespace rapideye::scenarios {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A device that does not get past an operation, or only after a while (then the
// operation must wait for nobody). With `sparse_core` >= 0 that SparseCore of the
// device stands there, and the device waits for it.
struct StuckDevice {
  int device = 0;
  int launch = 0;
  int op = 0;
  int sparse_core = -1;
  int64_t for_ms = kNever;
};

// All devices of a worker stop at an operation: its process is gone or stopped.
// `silent`: nothing is delivered to it either.
struct StoppedWorker {
  int worker = 0;
  int launch = 0;
  int op = 0;
  bool silent = false;
};

// A worker that dispatches nothing from a launch on.
struct IdleHost {
  int worker = 0;
  int launch = 0;
};

// A worker whose devices stay at the entry of a launch.
struct EntryStall {
  int worker = 0;
  int launch = 0;
};

// A link over which nothing passes between two workers from a launch on.
struct DeadLink {
  int worker = 0;
  int peer = 0;
  int launch = 0;
};

// A worker that runs something else as its `launch`.
struct Diversion {
  int worker = 0;
  int launch = 0;
  int program = 0;
  int64_t run = 0;  // of that program, for its launch id
};

struct SlowDevice {
  int device = 0;
  int factor = 1;
};

struct Faults {
  std::vector<StuckDevice> stuck;
  std::vector<StoppedWorker> stopped;
  std::vector<IdleHost> idle;
  std::vector<EntryStall> entry;
  std::vector<DeadLink> links;
  std::vector<Diversion> diversions;
  std::vector<SlowDevice> slow;
};

// A device reached an operation, or (op -1) completed its launch.
struct Arrival {
  int launch = 0;
  int op = 0;
  int64_t at_ms = 0;
};

struct Instance {
  int program = 0;
  int64_t run = 0;
};

class World {
 public:
  // Requires that the faults name devices, workers and operations of the job.
  // Simulates launches 0 .. launches - 1.
  World(const Job& job, const Faults& faults, int launches);

  // The last arrival of a device at or before a time; launch -1 before the first.
  Arrival At(int device, int64_t at_ms) const;
  // When the device last completed a launch at or before then, or -1.
  int64_t LastCompletion(int device, int64_t at_ms) const;
  // When the worker's host dispatched a launch, or kNever.
  int64_t DispatchedAt(int worker, int launch) const;
  // The first completion of a launch, on any device, after a time; or kNever.
  int64_t NextCompletion(int64_t behind_ms) const;
  // Program and run of a worker's launch: the job's plan, or its diversion.
  Instance InstanceAt(int worker, int launch) const;
  // The time of the last arrival.
  int64_t last_change_ms() const { return last_change_ms_; }
  int launches() const { return launches_; }
  // Whether everything that was to run ran.
  bool completed() const { return completed_; }

 private:
  friend class Dynamics;

  // How many of a device's arrivals are at or before a time.
  size_t ArrivalsUntil(int device, int64_t at_ms) const;

  const Job& job_;
  int launches_ = 0;
  int64_t last_change_ms_ = 0;
  bool completed_ = false;
  std::vector<std::vector<Arrival>> arrivals_;    // per device, in time order
  std::vector<std::vector<int64_t>> dispatched_;  // per worker, per launch
  std::vector<std::vector<Instance>> instances_;  // per worker, per launch
};

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_DYNAMICS_H_
