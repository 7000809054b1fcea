#include "proto/common/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace rapideye {
namespace {

using ::testing::ElementsAre;

// A job that signals when it has begun, and then hangs until the test releases it.
class Hanging {
 public:
  Worker::Job Job() {
    return [begun = begun_, wait = go_on_.get_future().share()] {
      begun->set_value();
      wait.wait();
    };
  }
  void AwaitBegin() { begun_->get_future().wait(); }
  void LetGo() { go_on_.set_value(); }

 private:
  const std::shared_ptr<std::promise<void>> begun_ = std::make_shared<std::promise<void>>();
  std::promise<void> go_on_;
};

TEST(Worker, RunsJobsInTheirOrder) {
  std::vector<int> done;
  Worker worker;
  EXPECT_TRUE(worker.Post([&] { done.push_back(1); }));
  EXPECT_TRUE(worker.Post([&] { done.push_back(2); }));
  EXPECT_TRUE(worker.Stop());
  EXPECT_THAT(done, ElementsAre(1, 2));
}

TEST(Worker, TakesNoMoreThanItsLimit) {
  Hanging hanging;
  Worker worker(1);
  ASSERT_TRUE(worker.Post(hanging.Job()));
  hanging.AwaitBegin();
  EXPECT_TRUE(worker.Post([] {})) << "the one that runs does not wait";
  EXPECT_FALSE(worker.Post([] {}));
  hanging.LetGo();
}

TEST(Worker, OfAKindOnlyTheLatestWaits) {
  std::vector<int> done;
  Hanging hanging;
  Worker worker;
  ASSERT_TRUE(worker.Post(hanging.Job()));
  hanging.AwaitBegin();
  EXPECT_TRUE(worker.PostLatest([&] { done.push_back(1); }));
  EXPECT_TRUE(worker.PostLatest([&] { done.push_back(10); }, /*kind=*/1));
  EXPECT_TRUE(worker.Post([&] { done.push_back(100); }));
  EXPECT_TRUE(worker.PostLatest([&] { done.push_back(2); }));
  hanging.LetGo();
  EXPECT_TRUE(worker.Stop());
  EXPECT_THAT(done, ElementsAre(2, 10, 100));
}

TEST(Worker, DropLeavesOutWhatHasNotBegun) {
  bool ran = false;
  Hanging hanging;
  {
    Worker worker;
    ASSERT_TRUE(worker.Post(hanging.Job()));
    hanging.AwaitBegin();
    ASSERT_TRUE(worker.Post([&ran] { ran = true; }));
    worker.Drop();
    EXPECT_FALSE(worker.Post([] {}));
    EXPECT_FALSE(worker.PostLatest([] {}));
    hanging.LetGo();
  }
  EXPECT_FALSE(ran);
}

// Lets `end` give a worker up whose job hangs: the job still comes to its own end.
void ExpectLeavesTheJobBehind(bool (*end)(Worker& worker)) {
  Hanging hanging;
  std::promise<void> left;
  std::future<void> has_left = left.get_future();
  {
    Worker worker;
    ASSERT_TRUE(worker.Post([job = hanging.Job(), &left] {
      job();
      left.set_value();
    }));
    hanging.AwaitBegin();
    EXPECT_FALSE(end(worker));
  }
  hanging.LetGo();
  has_left.wait();
}

TEST(Worker, StopLeavesAJobThatHangsBehind) {
  ExpectLeavesTheJobBehind([](Worker& worker) { return worker.Stop(absl::Milliseconds(1)); });
}

TEST(Worker, AbandonLeavesAJobThatHangsBehind) {
  ExpectLeavesTheJobBehind([](Worker& worker) { return worker.Abandon(absl::Milliseconds(1)); });
}

TEST(Worker, AbandonWaitsForTheJobThatRuns) {
  bool ran = false;
  Hanging hanging;
  Worker worker;
  ASSERT_TRUE(worker.Post([job = hanging.Job(), &ran] {
    job();
    ran = true;
  }));
  hanging.AwaitBegin();
  hanging.LetGo();
  EXPECT_TRUE(worker.Abandon(absl::Minutes(1)));
  EXPECT_TRUE(ran);
}

TEST(Worker, WithoutAJobItEndsAtOnce) {
  Worker worker;
  EXPECT_TRUE(worker.Stop(absl::ZeroDuration()));
}

// The destructor of an object that a job holds may call back into the worker.
TEST(Worker, DestroysJobsWithoutItsLock) {
  Hanging hanging;
  Worker worker;
  ASSERT_TRUE(worker.Post(hanging.Job()));
  hanging.AwaitBegin();
  const auto calls_back = [&worker](int*) { worker.Drop(); };
  int any = 0;
  std::shared_ptr<int> first(&any, calls_back);
  std::shared_ptr<int> second(&any, calls_back);
  worker.PostLatest([held = std::move(first)] {});
  worker.PostLatest([held = std::move(second)] {});
  worker.Drop();
  hanging.LetGo();
}

}  // namespace
}  // namespace rapideye
