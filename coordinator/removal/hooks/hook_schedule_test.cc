#include "coordinator/removal/hooks/hook_schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rapideye::coordinator {
namespace {

HookRun Call(const std::string& hook, const std::string& incident,
             std::vector<std::string> hosts = {}) {
  return {.hook = hook,
          .incident = incident,
          .cause = "BAD_TPU_CHIP",
          .job = "train",
          .remove_hosts = std::move(hosts),
          .digest = nullptr};
}

class HookScheduleTest : public ::testing::Test {
 protected:
  void Add(HookRun call) { ASSERT_TRUE(schedule_.Add(std::move(call), now_).ok()); }
  // "hook incident" of what begins now; "" if nothing.
  std::string Begin() {
    const auto begun = schedule_.Begin(now_);
    if (!begun) return "";
    id_ = begun->id;
    attempt_ = begun->attempt;
    return begun->call.hook + " " + begun->call.incident;
  }

  HookSchedule schedule_{{.at_once = 2,
                          .max_calls = 4,
                          .attempts = 4,
                          .first_retry = absl::Seconds(5),
                          .longest_retry = absl::Seconds(15)}};
  absl::Duration now_ = absl::Seconds(1000);
  int64_t id_ = 0;  // of what began last
  int attempt_ = 0;
};

TEST_F(HookScheduleTest, SoManyAtOnceInTheOrderOfTheirIncidents) {
  Add(Call("drain", "i1"));
  Add(Call("drain", "i2"));
  Add(Call("drain", "i3"));
  EXPECT_EQ(Begin(), "drain i1");
  EXPECT_EQ(Begin(), "drain i2");
  EXPECT_EQ(Begin(), "");
  EXPECT_FALSE(schedule_.Finish(id_, true, now_).retry_in.has_value());
  EXPECT_EQ(Begin(), "drain i3");
}

TEST_F(HookScheduleTest, HooksOfOneIncidentRunOneAfterAnother) {
  Add(Call("upload", "i1"));
  Add(Call("restart", "i1"));
  EXPECT_EQ(Begin(), "upload i1");
  EXPECT_EQ(Begin(), "");
  schedule_.Finish(id_, true, now_);
  EXPECT_EQ(Begin(), "restart i1");
}

TEST_F(HookScheduleTest, NeverTwoAtOnceForOneHost) {
  Add(Call("drain", "i1", {"a", "b"}));
  Add(Call("drain", "i2", {"b"}));
  Add(Call("drain", "i3", {"c"}));
  EXPECT_EQ(Begin(), "drain i1");
  EXPECT_EQ(Begin(), "drain i3");
  schedule_.Finish(id_, true, now_);
  EXPECT_EQ(Begin(), "");
}

TEST_F(HookScheduleTest, WhoWaitsForAHostIsNotOvertakenByOthersThatShareIt) {
  Add(Call("drain", "i1", {"a"}));
  Add(Call("drain", "i2", {"a", "b"}));
  Add(Call("drain", "i3", {"b"}));
  EXPECT_EQ(Begin(), "drain i1");
  const int64_t first = id_;
  EXPECT_EQ(Begin(), "");
  schedule_.Finish(first, true, now_);
  EXPECT_EQ(Begin(), "drain i2");
}

TEST_F(HookScheduleTest, FailureIsTriedAgainLaterAndLaterAndThenGivenUp) {
  Add(Call("drain", "i1"));
  std::vector<absl::Duration> waits;
  for (int attempt = 1; attempt <= 4; ++attempt) {
    ASSERT_EQ(Begin(), "drain i1");
    EXPECT_EQ(attempt_, attempt);
    const auto retry = schedule_.Finish(id_, false, now_).retry_in;
    EXPECT_EQ(retry.has_value(), attempt < 4);
    if (!retry) break;
    waits.push_back(*retry);
    EXPECT_EQ(schedule_.NextDue(now_), now_ + *retry);
    now_ += *retry - absl::Nanoseconds(1);
    EXPECT_EQ(Begin(), "") << "before it is due";
    now_ += absl::Nanoseconds(1);
  }
  EXPECT_EQ(waits, (std::vector{absl::Seconds(5), absl::Seconds(10), absl::Seconds(15)}));
  EXPECT_EQ(schedule_.size(), 0u);
  EXPECT_EQ(schedule_.NextDue(now_), absl::InfiniteDuration());
}

TEST_F(HookScheduleTest, WhoWaitsToBeTriedAgainHoldsUpNobody) {
  Add(Call("webhook", "i1", {"a"}));
  Add(Call("drain", "i1", {"a"}));
  ASSERT_EQ(Begin(), "webhook i1");
  ASSERT_TRUE(schedule_.Finish(id_, false, now_).retry_in.has_value());
  EXPECT_EQ(Begin(), "drain i1");
}

TEST_F(HookScheduleTest, TheSameCallIsKnownOnceUntilItIsDone) {
  Add(Call("drain", "i1", {"a"}));
  EXPECT_TRUE(absl::IsAlreadyExists(schedule_.Add(Call("drain", "i1", {"a"}), now_)));
  Add(Call("drain", "i1", {"b"}));  // the same hook, for another host
  ASSERT_EQ(Begin(), "drain i1");
  EXPECT_TRUE(absl::IsAlreadyExists(schedule_.Add(Call("drain", "i1", {"a"}), now_)));
  schedule_.Finish(id_, true, now_);
  Add(Call("drain", "i1", {"a"}));  // asked for again after a restart, say
}

TEST_F(HookScheduleTest, MoreCallsThanItsLimitAreRefused) {
  for (int i = 0; i < 4; ++i) Add(Call("drain", "i" + std::to_string(i)));
  EXPECT_TRUE(absl::IsResourceExhausted(schedule_.Add(Call("drain", "i9"), now_)));
  ASSERT_EQ(Begin(), "drain i0");
  schedule_.Finish(id_, true, now_);
  Add(Call("drain", "i9"));
}

TEST_F(HookScheduleTest, WhatIsDueAndBlockedWaitsForAFinishAndNotForTheTime) {
  Add(Call("upload", "i1"));
  Add(Call("restart", "i1"));
  ASSERT_EQ(Begin(), "upload i1");
  EXPECT_EQ(schedule_.NextDue(now_), absl::InfiniteDuration());
}

}  // namespace
}  // namespace rapideye::coordinator
