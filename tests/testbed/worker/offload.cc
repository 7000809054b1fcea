#include "tests/testbed/worker/offload.h"

namespace rapideye::testbed {

void Offload::Begin(int chip, int64_t run_id, int cores) {
  const std::lock_guard lock(mutex_);
  if (cores > 0) outstanding_[{chip, run_id}] = cores;
}

void Offload::Finish(int chip, int64_t run_id) {
  {
    const std::lock_guard lock(mutex_);
    const auto work = outstanding_.find({chip, run_id});
    if (work == outstanding_.end() || --work->second > 0) return;
    outstanding_.erase(work);
  }
  finished_.notify_all();
}

void Offload::Await(int chip, int64_t run_id, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, stop, [&] { return !outstanding_.contains({chip, run_id}); });
}

}  // namespace rapideye::testbed
