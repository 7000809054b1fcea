#include "coordinator/server/work_queue.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace rapideye::coordinator {
namespace {

TEST(WorkQueue, DoesWorkInItsOrder) {
  WorkQueue queue(3);
  std::vector<int> done;
  std::promise<void> finished;
  EXPECT_TRUE(queue.Post([&] { done.push_back(1); }));
  EXPECT_TRUE(queue.Post([&] {
    done.push_back(2);
    finished.set_value();
  }));
  finished.get_future().wait();
  EXPECT_EQ(done, (std::vector{1, 2}));
}

TEST(WorkQueue, TakesNoMoreThanItsLimit) {
  WorkQueue queue(1);
  std::promise<void> begun;
  std::promise<void> go_on;
  ASSERT_TRUE(queue.Post([&, wait = go_on.get_future().share()] {
    begun.set_value();
    wait.wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(queue.Post([] {}));
  EXPECT_FALSE(queue.Post([] {}));
  go_on.set_value();
}

TEST(WorkQueue, StopDropsWhatHasNotBegun) {
  bool ran = false;
  std::promise<void> go_on;
  {
    WorkQueue queue(2);
    std::promise<void> begun;
    ASSERT_TRUE(queue.Post([&, wait = go_on.get_future().share()] {
      begun.set_value();
      wait.wait();
    }));
    begun.get_future().wait();
    ASSERT_TRUE(queue.Post([&ran] { ran = true; }));
    queue.Stop();
    EXPECT_FALSE(queue.Post([] {}));
    go_on.set_value();
  }
  EXPECT_FALSE(ran);
}

TEST(WorkQueue, WorkThatHangsIsLeftBehind) {
  const auto go_on = std::make_shared<std::promise<void>>();
  const auto left = std::make_shared<std::promise<void>>();
  {
    WorkQueue queue(1);
    std::promise<void> begun;
    std::future<void> has_begun = begun.get_future();
    ASSERT_TRUE(queue.Post([go_on, left, &begun] {
      begun.set_value();
      go_on->get_future().wait();
      left->set_value();
    }));
    has_begun.wait();
  }
  go_on->set_value();
  left->get_future().wait();
}

}  // namespace
}  // namespace rapideye::coordinator
