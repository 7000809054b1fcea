#include "coordinator/server/status_cache.h"

#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

class StatusCacheTest : public ::testing::Test {
 protected:
  // Number of requests on their way to the core.
  int Requests() {
    int requests = 0;
    while (const auto event = queue_.Pop(-absl::InfiniteDuration())) {
      requests += std::holds_alternative<StatusRequested>(*event) ? 1 : 0;
    }
    return requests;
  }
  static JobStatus Of(const std::string& job) {
    JobStatus status;
    status.job = job;
    return status;
  }
  void Ask(double seconds) {
    cache_.Ask(absl::Seconds(seconds), [this](const std::shared_ptr<const JobStatus>& status) {
      answers_.push_back(status == nullptr ? "none" : status->job);
    });
  }

  EventQueue queue_;
  StatusCache cache_{queue_};
  std::vector<std::string> answers_;
};

TEST_F(StatusCacheTest, ManyWhoAskCostTheCoreOneReport) {
  for (int i = 0; i < 3; ++i) Ask(100);
  EXPECT_EQ(Requests(), 1);
  EXPECT_TRUE(answers_.empty());
  cache_.Report(absl::Seconds(101), Of("a"));
  EXPECT_EQ(answers_, (std::vector<std::string>{"a", "a", "a"}));
  // A request right after that gets the same report.
  Ask(101.1);
  EXPECT_EQ(answers_.size(), 4u);
  EXPECT_EQ(Requests(), 0);
  Ask(102);
  EXPECT_EQ(answers_.size(), 4u);
  EXPECT_EQ(Requests(), 1);
}

TEST_F(StatusCacheTest, AReportThatHasExpiredIsTakenAnew) {
  Ask(100);
  cache_.Report(absl::Seconds(100), Of("a"));
  cache_.Expire();
  Ask(100);
  EXPECT_EQ(Requests(), 2);
  cache_.Report(absl::Seconds(100), Of("b"));
  EXPECT_EQ(answers_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(StatusCacheTest, AfterTheEndThereIsNone) {
  Ask(100);
  cache_.Stop();
  Ask(100);
  EXPECT_EQ(answers_, (std::vector<std::string>{"none", "none"}));
  EXPECT_EQ(Requests(), 1);
}

}  // namespace
}  // namespace rapideye::coordinator
