// LaunchHistory finds the order of programs in one step from the queues of a worker.
#ifndef RAPIDEYE_COORDINATOR_CORE_LAUNCH_HISTORY_H_
#define RAPIDEYE_COORDINATOR_CORE_LAUNCH_HISTORY_H_

#include <cstdint>
#include <map>
#include <vector>

namespace rapideye::coordinator {

using ProgramNumber = int32_t;

struct Launch {
  ProgramNumber program = 0;
  int32_t id = 0;  // wraps
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Launches of one worker in the order in which they run, without gaps.
class LaunchHistory {
 public:
  // Adds a queue of a later moment: the launch that runs, then those that wait.
  // Continues the history where both overlap, otherwise begins anew.
  void Append(const std::vector<Launch>& queue);

  // One step: the shortest cycle that the whole history repeats, launch ids
  // included. Begins with the lowest program number of the possible beginnings,
  // so that all workers of a cohort state the same. Empty if no cycle shows, or
  // if it leaves out a program that (by `completed`, launches per program) runs
  // at least half as often as one of the cycle's.
  std::vector<Launch> Step(const std::map<ProgramNumber, int64_t>& completed) const;

  const std::vector<Launch>& launches() const { return launches_; }

 private:
  std::vector<Launch> launches_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_LAUNCH_HISTORY_H_
