#include "agent/daemon/exit_condition.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace rapideye::agent {
namespace {

bool MayGo(const ExitCondition& condition) {
  pollfd done = {condition.fd(), POLLIN, 0};
  return poll(&done, 1, 0) == 1;
}

TEST(ExitConditionTest, TellsUntilItIsTakenBack) {
  ExitCondition condition;
  EXPECT_FALSE(MayGo(condition));
  condition.Note(false);
  EXPECT_FALSE(MayGo(condition));
  condition.Note(true);
  condition.Note(true);
  EXPECT_TRUE(MayGo(condition));
  EXPECT_TRUE(MayGo(condition));
  condition.Note(false);
  EXPECT_FALSE(MayGo(condition));
  condition.Note(true);
  EXPECT_TRUE(MayGo(condition));
}

}  // namespace
}  // namespace rapideye::agent
