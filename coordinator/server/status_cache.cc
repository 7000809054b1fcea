#include "coordinator/server/status_cache.h"

#include <utility>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

void StatusCache::Ask(absl::Duration now, Answer answer) {
  std::shared_ptr<const JobStatus> known;
  {
    const MutexLock lock(mutex_);
    const bool fresh = now - reported_ < kStatusFresh;
    if (!stopped_ && !fresh) {
      waiting_.push_back(std::move(answer));
      if (waiting_.size() == 1) queue_.Post(StatusRequested{});
      return;
    }
    if (!stopped_) known = last_;
  }
  answer(std::move(known));
}

void StatusCache::Expire() {
  const MutexLock lock(mutex_);
  reported_ = -absl::InfiniteDuration();
}

void StatusCache::Report(absl::Duration now, JobStatus status) {
  Give(std::make_shared<const JobStatus>(std::move(status)), now);
}

void StatusCache::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  Give(nullptr, -absl::InfiniteDuration());
}

void StatusCache::Give(std::shared_ptr<const JobStatus> status, absl::Duration now) {
  std::vector<Answer> waiting;
  {
    const MutexLock lock(mutex_);
    waiting = std::exchange(waiting_, {});
    last_ = status;
    reported_ = now;
  }
  for (const Answer& answer : waiting) answer(status);
}

}  // namespace rapideye::coordinator
