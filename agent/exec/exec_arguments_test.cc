#include "agent/exec/exec_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FindCommand, StandsBehindExec) {
  EXPECT_THAT(FindCommand({"--job=a", "exec", "--", "python", "-u", "x"}),
              ElementsAre("python", "-u", "x"));
  EXPECT_THAT(FindCommand({"--nosuch", "exec", "python", "-u"}), ElementsAre("python", "-u"));
  EXPECT_THAT(FindCommand({"exec", "--nosuch=1", "--", "python"}), ElementsAre("python"));
  EXPECT_THAT(FindCommand({"--job", "exec", "exec", "--", "python"}), ElementsAre("python"));
}

TEST(FindCommand, DashesOfTheCommandStayItsOwn) {
  EXPECT_THAT(FindCommand({"exec", "--", "env", "--", "exec"}), ElementsAre("env", "--", "exec"));
  EXPECT_THAT(FindCommand({"exec", "env", "a=b", "--", "x"}), ElementsAre("env", "a=b", "--", "x"));
}

TEST(FindCommand, WithoutACommandThereIsNone) {
  EXPECT_THAT(FindCommand({}), IsEmpty());
  EXPECT_THAT(FindCommand({"--once"}), IsEmpty());
  EXPECT_THAT(FindCommand({"exec"}), IsEmpty());
  EXPECT_THAT(FindCommand({"--", "exec", "x"}), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
