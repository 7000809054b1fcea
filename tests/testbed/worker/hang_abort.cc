#include "tests/testbed/worker/hang_abort.h"

#include <sys/resource.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/worker/worker.h"

namespace rapideye::testbed {
namespace {

constexpr std::chrono::milliseconds kLookInterval{100};

int32_t NewestLaunch(const Worker& worker) {
  for (const std::unique_ptr<Core>& core : worker.cores()) {
    const CoreState state = core->State();
    if (state.running.has_value()) return state.running->launch_id;
  }
  return 0;
}

[[noreturn]] void Abort(const Worker& worker, absl::Duration threshold,
                        const HostProgress& progress) {
  worker.Log(
      "E", "megascale_runtime.cc:512",
      absl::StrCat("Megascale hang detected: Timed out waiting for ",
                   worker.options().shape.tensor_cores_per_worker(),
                   " graphs to complete at launch_id ", NewestLaunch(worker),
                   ". Already completed: ", progress.launches,
                   ". StepGloballyInProgress: true. Timeout: ", absl::FormatDuration(threshold)));
  worker.Log("F", "megascale_error_reporter.cc:271",
             "Aborting the coordinator after collecting errors");
  const rlimit no_core_file{};
  setrlimit(RLIMIT_CORE, &no_core_file);
  std::abort();
}

}  // namespace

void AbortOnHang(const Worker& worker, absl::Duration threshold, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const HostProgress progress = worker.host().Progress();
    const bool began = progress.launches > 0;
    if (began && absl::Now() - progress.last_completion > threshold) {
      Abort(worker, threshold, progress);
    }
    never.wait_for(lock, stop, kLookInterval, [] { return false; });
  }
}

}  // namespace rapideye::testbed
