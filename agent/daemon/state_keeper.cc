#include "agent/daemon/state_keeper.h"

#include <spdlog/spdlog.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "agent/core/limits.h"

namespace rapideye::agent {

struct StateKeeper::Shared {
  explicit Shared(StateFile f) : file(std::move(f)) {}
  const StateFile file;
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::optional<KeptState> waiting;
  bool stopping = false;
  bool stopped = false;

  void Run() {
    bool failed = false;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || waiting.has_value(); });
      if (!waiting.has_value()) break;
      const KeptState state = *std::exchange(waiting, std::nullopt);
      lock.unlock();
      const absl::Status status = file.Save(state);
      if (!status.ok() && !std::exchange(failed, true)) {
        spdlog::warn(
            "nothing can be left for the next agent, which may cost evidence of a hang when this "
            "one is replaced: {}; check --state-dir",
            std::string(status.message()));
      }
      if (status.ok() && std::exchange(failed, false)) spdlog::info("--state-dir works again");
      lock.lock();
    }
    stopped = true;
    changed.notify_all();
  }
};

StateKeeper::StateKeeper(StateFile file)
    : shared_(std::make_shared<Shared>(std::move(file))),
      thread_([shared = shared_] { shared->Run(); }) {}

StateKeeper::~StateKeeper() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  const bool stopped = shared_->changed.wait_for(lock, absl::ToChronoNanoseconds(kStatePatience),
                                                 [this] { return shared_->stopped; });
  lock.unlock();
  if (stopped) {
    thread_.join();
  } else {
    spdlog::warn("--state-dir hangs; nothing is left for the next agent");
    thread_.detach();
  }
}

std::optional<KeptState> StateKeeper::Load(const StateFile& file) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<std::optional<KeptState>>>>();
  auto result = promise->get_future();
  std::thread([promise, file] { promise->set_value(file.Load()); }).detach();
  if (result.wait_for(absl::ToChronoNanoseconds(kStatePatience)) != std::future_status::ready) {
    spdlog::warn("{} does not answer; starting without what the last agent may have left",
                 file.path());
    return std::nullopt;
  }
  absl::StatusOr<std::optional<KeptState>> state = result.get();
  if (state.ok()) return *std::move(state);
  spdlog::warn("{} is not used: {}", file.path(), std::string(state.status().message()));
  return std::nullopt;
}

void StateKeeper::Keep(KeptState state) {
  const std::lock_guard lock(shared_->mutex);
  shared_->waiting = std::move(state);
  shared_->changed.notify_all();
}

}  // namespace rapideye::agent
