#include "tests/testbed/launcher/removals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::testbed {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kRemoved[] = R"({
  "incident": "20261120T124415Z-0123abcd", "mode": "enforce",
  "decisions": [{"host": "tpu-host-0-1", "machine": "hardware:machine-0-1", "action": "remove",
                 "rule": "repetition", "reason": "4 hang events"}],
  "hooks": [{"hook": "/hooks/drain", "machine": "hardware:machine-0-1", "state": "done",
             "attempts": 1, "outcome": "exit status 0", "output": "drained\n"},
            {"hook": "/hooks/drain", "state": "done", "attempts": 0, "outcome": "not run",
             "output": ""}]})";

TEST(ParseRemovals, ReadsDecisionsAndHooks) {
  const absl::StatusOr<Removals> removals = ParseRemovals(kRemoved);
  ASSERT_TRUE(removals.ok()) << removals.status();
  EXPECT_EQ(removals->mode, "enforce");
  ASSERT_THAT(removals->decisions, SizeIs(1));
  EXPECT_EQ(removals->decisions[0].host, "tpu-host-0-1");
  EXPECT_EQ(removals->decisions[0].action, "remove");
  ASSERT_THAT(removals->hooks, SizeIs(2));
  EXPECT_EQ(removals->hooks[0].machine, "hardware:machine-0-1");
  EXPECT_EQ(removals->hooks[0].output, "drained\n");
  EXPECT_EQ(removals->hooks[1].machine, "");
  EXPECT_TRUE(removals->Settled());
}

TEST(ParseRemovals, NamesWhatIsMissing) {
  EXPECT_THAT(ParseRemovals(R"({"mode": "off"})").status().ToString(), HasSubstr("decisions"));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseRemovals("").status()));
}

TEST(Removals, AreNotSettledBeforeTheDecisionNorWhileAHookIsDue) {
  Removals removals = *ParseRemovals(kRemoved);
  removals.hooks[1].state = "due";
  EXPECT_FALSE(removals.Settled());
  removals = *ParseRemovals(kRemoved);
  removals.decisions.clear();
  EXPECT_FALSE(removals.Settled());
}

}  // namespace
}  // namespace rapideye::testbed
