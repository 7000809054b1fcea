#include "agent/core/incarnation.h"

#include <gtest/gtest.h>

#include "agent/core/worker_view.h"
#include "tests/support/sample_builder.h"

namespace rapideye::agent {
namespace {

constexpr ProcessId kFirst{4211, 100};
constexpr ProcessId kReused{4211, 900};

TEST(IncarnationTest, TheHostKnowsBetterThanARuntimeThatWasGone) {
  ProcessSigns signs;
  signs.runtime_was_gone = true;
  EXPECT_TRUE(IsNewProcess(signs));
  signs.process_before = signs.process_now = kFirst;
  EXPECT_FALSE(IsNewProcess(signs));
  signs.process_now = kReused;
  EXPECT_TRUE(IsNewProcess(signs));
}

TEST(IncarnationTest, CountersThatRestartAreAnotherIncarnationOfTheSameProcess) {
  ProcessSigns signs;
  signs.process_before = signs.process_now = kFirst;
  EXPECT_FALSE(IsNewProcess(signs));
  signs.counters_restarted = true;
  EXPECT_TRUE(IsNewProcess(signs));
  EXPECT_EQ(NameIncarnation("abc", 2, signs), "4211@100.2");
  signs.process_before.reset();
  EXPECT_EQ(NameIncarnation("abc", 2, signs), "4211@100");
  signs.process_now.reset();
  EXPECT_EQ(NameIncarnation("abc", 2, signs), "abc.2");
}

class ViewTest : public testing::Test {
 protected:
  std::string See(std::optional<ProcessId> process, int32_t launch) {
    view_.SetProcess(process);
    view_.Observe(*Serving({Running(0, "aa", launch, 7)}).sample, now_ += absl::Seconds(5));
    return *view_.incarnation();
  }
  WorkerView view_{"abc"};
  absl::Duration now_;
};

TEST_F(ViewTest, AProcessThatBecomesKnownLaterIsNoOther) {
  EXPECT_EQ(See(std::nullopt, 1), "abc.1");
  EXPECT_EQ(See(kFirst, 2), "abc.1");
  EXPECT_EQ(See(std::nullopt, 3), "abc.1");
  EXPECT_EQ(See(kFirst, 4), "abc.1");
  EXPECT_EQ(See(kReused, 1), "4211@900");
}

TEST_F(ViewTest, ARestartSeenByTheRuntimeAloneIsOneRestart) {
  EXPECT_EQ(See(kFirst, 100), "4211@100");
  view_.RuntimeGone();
  EXPECT_EQ(See(std::nullopt, 1), "abc.2");
  EXPECT_EQ(See(kReused, 2), "abc.2");
}

TEST_F(ViewTest, ARuntimeThatStoppedListeningForAWhileIsTheSame) {
  EXPECT_EQ(See(kFirst, 100), "4211@100");
  view_.RuntimeGone();
  EXPECT_EQ(See(kFirst, 101), "4211@100");
}

}  // namespace
}  // namespace rapideye::agent
