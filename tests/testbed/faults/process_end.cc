// The training process ends, or ceases to run, from one moment to the next.
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "tests/testbed/faults/fault.h"

namespace rapideye::testbed {
namespace {

constexpr int kErrorExit = 1;  // as Python exits after an exception

// Done where the host comes to its next step: by then the launcher knows that
// the fault is set. Once: a process that was stopped may go on.
void AtNextStep(Worker& worker, absl::string_view fault, void (*end)(Worker& worker)) {
  worker.host().AddRewrite([&worker, fault, end, once = std::make_shared<std::once_flag>()](
                               int64_t number, Step&, const std::stop_token&) {
    std::call_once(*once, [&] {
      worker.AnnounceEffect(fault, absl::StrCat("step=", number));
      end(worker);
    });
  });
}

absl::Status Kill(const ControlLine&, Worker& worker) {
  AtNextStep(worker, "process-kill", [](Worker&) { kill(getpid(), SIGKILL); });
  return absl::OkStatus();
}

absl::Status Stop(const ControlLine&, Worker& worker) {
  AtNextStep(worker, "process-stop", [](Worker&) { kill(getpid(), SIGSTOP); });
  return absl::OkStatus();
}

absl::Status Exit(const ControlLine&, Worker& worker) {
  AtNextStep(worker, "process-exit", [](Worker& w) {
    w.Log("E", "trainer.py:212",
          "ValueError: checkpoint manifest of step 1200 lists 16 shards, found 15");
    _exit(kErrorExit);
  });
  return absl::OkStatus();
}

absl::Status OutOfMemory(const ControlLine&, Worker& worker) {
  AtNextStep(worker, "out-of-memory", [](Worker& w) {
    w.Log("E", "pjrt_stream_executor_client.cc:2985",
          "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.");
    _exit(kErrorExit);
  });
  return absl::OkStatus();
}

}  // namespace

const Fault kProcessKill = {"process-kill", "the process is killed by SIGKILL", Kill};
const Fault kProcessStop = {"process-stop", "the process is stopped by SIGSTOP", Stop};
const Fault kProcessExit = {"process-exit", "the process logs an error and exits with 1", Exit};
const Fault kOutOfMemory = {"out-of-memory", "an allocation on the chip fails, the process exits",
                            OutOfMemory};

}  // namespace rapideye::testbed
