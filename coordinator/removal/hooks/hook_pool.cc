#include "coordinator/removal/hooks/hook_pool.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "coordinator/removal/hooks/hook_environment.h"

namespace rapideye::coordinator {
namespace {

absl::Duration Now() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

HookPool::HookPool(Options options, Report report)
    : options_(std::move(options)),
      report_(std::move(report)),
      interrupt_(eventfd(0, EFD_CLOEXEC)),
      schedule_(options_.schedule) {
  for (size_t i = 0; i < options_.schedule.at_once; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

HookPool::~HookPool() {
  Stop();
  if (interrupt_ >= 0) close(interrupt_);
}

absl::Status HookPool::Add(HookRun call) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return absl::CancelledError("no hook is begun any more: this program stops");
  if (absl::Status added = schedule_.Add(std::move(call), Now()); !added.ok()) return added;
  changed_.notify_one();
  return absl::OkStatus();
}

void HookPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  const uint64_t one = 1;
  // It can only fail where the descriptor could not be had: then hooks end by themselves.
  [[maybe_unused]] const ssize_t written = write(interrupt_, &one, sizeof one);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void HookPool::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const absl::Duration now = Now();  // the same for both, lest one falls due in between
    std::optional<HookSchedule::Begun> begun = schedule_.Begin(now);
    if (!begun) {
      const absl::Duration due = schedule_.NextDue(now);
      if (due == absl::InfiniteDuration()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock,
                            std::chrono::steady_clock::time_point(absl::ToChronoNanoseconds(due)));
      }
      continue;
    }
    lock.unlock();
    HookReport report{.call = std::move(begun->call), .outcome = {}, .attempt = begun->attempt};
    report.outcome = RunHookProcess(
        report.call.hook, report.call.digest != nullptr ? *report.call.digest : std::string(),
        HookEnvironment(report.call, options_.environment), options_.limits, interrupt_);
    lock.lock();
    if (report.outcome.end == HookOutcome::End::kInterrupted) break;
    report.retry_in = schedule_.Finish(begun->id, report.outcome.succeeded(), Now()).retry_in;
    changed_.notify_all();  // its hosts and its incident are free again
    lock.unlock();
    report_(report);
    report = {};  // what it holds goes without the lock
    lock.lock();
  }
}

}  // namespace rapideye::coordinator
