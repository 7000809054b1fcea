#include "proto/common/worker/periodic_worker.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"

namespace rapideye {
namespace {

// Counts turns; each but the last sets when the next is due.
class Turns {
 public:
  PeriodicWorker::Turn Every(absl::Duration period) {
    return [this, period](bool last) {
      const MutexLock lock(mutex_);
      ++turns_;
      last_ = last;
      changed_.NotifyAll();
      return MonotonicTime() + period;
    };
  }
  void Await(int turns) {
    const MutexLock lock(mutex_);
    while (turns_ < turns) changed_.Wait(mutex_);
  }
  int count() {
    const MutexLock lock(mutex_);
    return turns_;
  }
  bool last() {
    const MutexLock lock(mutex_);
    return last_;
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int turns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool last_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(PeriodicWorker, TakesATurnAtOnceAndWheneverOneIsDue) {
  Turns turns;
  const PeriodicWorker worker(turns.Every(absl::Milliseconds(1)));
  turns.Await(3);
}

TEST(PeriodicWorker, TakesATurnWhenItIsWoken) {
  Turns turns;
  PeriodicWorker worker(turns.Every(absl::InfiniteDuration()));
  turns.Await(1);
  worker.Wake();
  turns.Await(2);
}

TEST(PeriodicWorker, TakesOneLastTurnAtItsEnd) {
  Turns turns;
  PeriodicWorker worker(turns.Every(absl::InfiniteDuration()));
  turns.Await(1);
  EXPECT_FALSE(turns.last());
  EXPECT_TRUE(worker.Stop(absl::Minutes(1)));
  EXPECT_EQ(turns.count(), 2);
  EXPECT_TRUE(turns.last());
}

TEST(PeriodicWorker, LeavesBehindATurnThatHangs) {
  std::promise<void> go_on;
  std::promise<void> left;
  std::future<void> has_left = left.get_future();
  {
    PeriodicWorker worker([&left, wait = go_on.get_future().share()](bool last) {
      wait.wait();
      if (last) left.set_value();
      return absl::InfiniteDuration();
    });
    EXPECT_FALSE(worker.Stop(absl::Milliseconds(1)));
  }
  go_on.set_value();
  has_left.wait();
}

}  // namespace
}  // namespace rapideye
