// Core is one core of a simulated chip: a queue of launches and a thread that runs them.
#ifndef RAPIDEYE_TESTS_TESTBED_WORKER_CORE_H_
#define RAPIDEYE_TESTS_TESTBED_WORKER_CORE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/v1/evidence.h"
#include "tests/testbed/model/program.h"
#include "tests/testbed/worker/durations.h"

namespace rapideye::testbed {

// One program handed to the cores of a worker.
struct Launch {
  ProgramPtr program;
  int32_t launch_id = 0;
  int64_t run_id = 0;  // of this worker, counts all launches
  int64_t step = 0;    // of training, from 1
  bool ends_step = false;
  int32_t transfer_id = 0;  // the launch id of its channel
};

struct CoreId {
  int chip = 0;
  CoreType type = CoreType::kTensorCore;
  int index = 0;  // on the chip, among its type
  // Among all TensorCores of the worker; means nothing for other types.
  int tensor_core = 0;
};

// State that a core shows to the outside.
struct CoreState {
  std::optional<Launch> running;
  int operation = 0;   // index into the running program
  int64_t within = 0;  // how far the pc stands behind the operation's first
  std::deque<Launch> queued;
  std::string error;
};

// Use of a core since its start.
struct CoreUse {
  absl::Duration busy;  // with a launch, the present one included
  absl::Time last_completion = absl::InfinitePast();
};

class Core {
 public:
  // Carries out one operation; an error means that the core cannot go on.
  using Execute = std::function<absl::Status(const Launch&, int operation, const std::stop_token&)>;
  // Called on the core's thread when it comes to an operation, before it is
  // carried out; may block, which holds the core there. The way in for faults.
  using Gate = std::function<void(const Launch&, int operation, const std::stop_token&)>;
  struct Events {
    std::function<void()> dequeued;                // room in the queue
    std::function<void(const Launch&)> completed;  // on this core
    // The core has stopped, and nobody has told it to halt.
    std::function<void(const absl::Status&)> failed;
  };

  explicit Core(CoreId id) : id_(id) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Begins to run what is queued. A core that is never started stays idle.
  void Start(Execute execute, Events events);

  // Asks the thread to stop and waits for it; nothing runs afterwards.
  void Stop();

  void Enqueue(Launch launch);
  void AddGate(Gate gate);

  const CoreId& id() const { return id_; }
  // For gates, on the core's thread. The pc moves inside the operation's code.
  void MoveWithinOperation(int64_t distance);
  // The core stops with this error once the gate returns, and runs nothing more.
  void Halt(absl::string_view error);

  size_t QueueLength() const;  // without what runs
  CoreState State() const;
  CoreUse Use() const;
  const Durations& executions() const { return executions_; }  // of launches that completed

 private:
  void Run(const std::stop_token& stop);
  absl::Status RunLaunch(const Launch& launch, const std::stop_token& stop);

  const CoreId id_;
  Execute execute_;
  Events events_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  CoreState state_;
  absl::Time begun_;  // of the running launch
  CoreUse use_;       // of those that are over
  Durations executions_;
  std::vector<Gate> gates_;
  std::jthread thread_;
};

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_WORKER_CORE_H_
