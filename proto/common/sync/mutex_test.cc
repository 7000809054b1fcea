#include "proto/common/sync/mutex.h"

#include <gtest/gtest.h>

#include <thread>

#include "proto/common/clock/clock.h"

namespace rapideye {
namespace {

TEST(Mutex, LetsOneThreadInAtATime) {
  Mutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 10'000; ++i) {
      const MutexLock lock(mutex);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count, 20'000);
}

TEST(MutexLock, LetsGoInBetween) {
  Mutex mutex;
  MutexLock lock(mutex);
  lock.Unlock();
  std::thread([&] { const MutexLock of_another_thread(mutex); }).join();
  lock.Lock();
}

TEST(ConditionVariable, WakesWhoWaits) {
  Mutex mutex;
  ConditionVariable changed;
  bool ready = false;
  std::thread other([&] {
    const MutexLock lock(mutex);
    ready = true;
    changed.NotifyAll();
  });
  {
    const MutexLock lock(mutex);
    while (!ready && changed.WaitUntil(mutex, absl::InfiniteDuration())) {
    }
    EXPECT_TRUE(ready);
  }
  other.join();
}

TEST(ConditionVariable, EndsAtTheDeadlineByTheSteadyClock) {
  Mutex mutex;
  ConditionVariable changed;
  const MutexLock lock(mutex);
  const absl::Duration deadline = MonotonicTime() + absl::Milliseconds(2);
  while (changed.WaitUntil(mutex, deadline)) {
  }
  EXPECT_GE(MonotonicTime(), deadline);
  EXPECT_FALSE(changed.WaitUntil(mutex, -absl::InfiniteDuration()));
}

}  // namespace
}  // namespace rapideye
