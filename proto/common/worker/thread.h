// Thread runs a function and can be left behind if the function hangs; WithPatience waits for
// the result of one.
#ifndef RAPIDEYE_PROTO_COMMON_WORKER_THREAD_H_
#define RAPIDEYE_PROTO_COMMON_WORKER_THREAD_H_

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye {

// Not thread-safe: only its owner calls it.
class Thread {
 public:
  explicit Thread(std::function<void()> run);
  // Joins it, however long that takes.
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Waits for the function to return. False if it has not within `patience`: then the thread
  // is left behind and ends whenever it does, so the function must own all that it uses.
  bool Join(absl::Duration patience = absl::InfiniteDuration());

 private:
  struct State {
    Mutex mutex;
    ConditionVariable changed;
    bool ended ABSL_GUARDED_BY(mutex) = false;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

// The result of `work`, which runs on a thread of its own; absent if it takes longer than
// `patience`. Then the thread is left behind, so `work` must own all that it uses.
template <typename Work>
std::optional<std::invoke_result_t<Work>> WithPatience(Work work, absl::Duration patience) {
  const auto result = std::make_shared<std::optional<std::invoke_result_t<Work>>>();
  Thread thread([result, work = std::move(work)]() mutable { result->emplace(work()); });
  if (!thread.Join(patience)) return std::nullopt;
  return std::move(*result);
}

}  // namespace rapideye

#endif  // RAPIDEYE_PROTO_COMMON_WORKER_THREAD_H_
