// Host is the host side of one worker: its training loop dispatches launches to all cores a few
// ahead of their execution. It writes the progress page that its environment names, if it names
// one.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_HOST_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_HOST_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "agent/progress/rapideye_progress.h"
#include "tests/testbed/model/launch_ids.h"
#include "tests/testbed/worker/core.h"
#include "tests/testbed/worker/input_pipe.h"

namespace rapideye::testbed {

using Step = std::vector<ProgramPtr>;

struct HostOptions {
  uint64_t seed = 1;    // of launch ids: the same on all workers
  int queue_depth = 2;  // launches that wait behind the running one, at most
  // After every so many steps the host waits until they are done and then
  // launches nothing for a while, as for a checkpoint; 0: never. Counted in steps,
  // so that all workers pause at the same one.
  int64_t steps_between_pauses = 0;
  absl::Duration pause = absl::ZeroDuration();
};

// How far the worker has come.
struct HostProgress {
  int64_t steps = 0;                                  // completed by all cores
  int64_t launches = 0;                               // completed by all cores
  absl::Time last_completion = absl::InfinitePast();  // of any launch on any core
};

class Host {
 public:
  // Changes what the next step launches; called on the host's thread when it
  // comes to dispatch a step. May block. The way in for faults.
  using Rewrite = std::function<void(int64_t number, Step& step, const std::stop_token&)>;

  // `cores` are the worker's TensorCores; they and `input` must outlive Stop().
  Host(HostOptions options, Step step, std::vector<Core*> cores, InputPipe& input);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void Start();
  void Stop();

  void AddRewrite(Rewrite rewrite);

  // Once, before it dispatches its next step, the host writes a checkpoint for so long
  // and says so on its page; `begun` is called on its thread. Launches nothing.
  void CheckpointFor(absl::Duration time, std::function<void(int64_t step)> begun);

  // Called by the cores.
  void OnDequeued();
  void OnCompleted(const Launch& launch);

  HostProgress Progress() const;

 private:
  void Run(const std::stop_token& stop);
  // Returns false if the host is asked to stop.
  bool Dispatch(Launch launch, const std::stop_token& stop);
  bool EveryQueueHasRoom() const;
  void CheckpointIfAsked(int64_t step, const std::stop_token& stop);
  // Rests once this step and all before it are done. False: asked to stop.
  bool PauseAfter(int64_t step, const std::stop_token& stop);

  const HostOptions options_;
  const Step step_;
  const std::vector<Core*> cores_;
  InputPipe& input_;
  LaunchIds launch_ids_;    // of the host's thread alone
  LaunchIds transfer_ids_;  // likewise
  rapideye_progress page_;  // likewise
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // room in a queue, a step done
  std::vector<Rewrite> rewrites_;
  absl::Duration checkpoint_;  // zero: none is asked for
  std::function<void(int64_t)> checkpoint_begun_;
  HostProgress progress_;
  std::map<int64_t, size_t> completed_on_;  // run id → number of cores
  std::jthread thread_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_HOST_H_
