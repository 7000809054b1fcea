#include "proto/common/worker/thread.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

namespace rapideye {
namespace {

TEST(Thread, IsJoinedAtItsEnd) {
  bool ran = false;
  {
    const Thread thread([&ran] { ran = true; });
  }
  EXPECT_TRUE(ran);
}

TEST(Thread, JoinsWhatEndsInTime) {
  Thread thread([] {});
  EXPECT_TRUE(thread.Join(absl::Minutes(1)));
  EXPECT_TRUE(thread.Join(absl::ZeroDuration())) << "joined already";
}

TEST(Thread, LeavesBehindWhatHangs) {
  std::promise<void> go_on;
  const auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owned;
  std::promise<void> left;
  std::future<void> has_left = left.get_future();
  {
    Thread thread([&left, held = owned, wait = go_on.get_future().share()] {
      wait.wait();
      left.set_value();
    });
    EXPECT_FALSE(thread.Join(absl::Milliseconds(1)));
  }
  EXPECT_EQ(watched.use_count(), 2) << "what hangs still has what it owns";
  go_on.set_value();
  has_left.wait();
}

TEST(WithPatience, GivesTheResult) {
  EXPECT_EQ(WithPatience([] { return std::string("done"); }, absl::Minutes(1)), "done");
}

TEST(WithPatience, GivesNothingForWorkThatHangs) {
  std::promise<void> go_on;
  std::promise<void> left;
  EXPECT_EQ(WithPatience(
                [&left, wait = go_on.get_future().share()] {
                  wait.wait();
                  left.set_value();
                  return 1;
                },
                absl::Milliseconds(1)),
            std::nullopt);
  go_on.set_value();
  left.get_future().wait();
}

}  // namespace
}  // namespace rapideye
