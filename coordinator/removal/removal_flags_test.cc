#include "coordinator/removal/removal_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

RemovalFlags Enforced() {
  RemovalFlags flags;
  flags.removal = "enforce";
  flags.fleet_db = "sqlite:fleet.db";
  flags.policy.fleet_hosts = 4096;
  flags.hooks = {"/bin/true"};
  return flags;
}

std::string ProblemOf(RemovalFlags flags) {
  const absl::Status status = CheckRemoval(flags);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(RemovalFlagsTest, TheDefaultIsADryRun) {
  RemovalFlags flags;
  ASSERT_TRUE(CheckRemoval(flags).ok());
  EXPECT_EQ(flags.policy.mode, RemovalMode::kDryRun);
}

TEST(RemovalFlagsTest, EnforcedNeedsAHistoryTheFleetsSizeAndAHook) {
  RemovalFlags flags = Enforced();
  ASSERT_TRUE(CheckRemoval(flags).ok());
  EXPECT_EQ(flags.policy.mode, RemovalMode::kEnforce);
  flags.fleet_db = "";
  EXPECT_THAT(ProblemOf(flags), HasSubstr("give --fleet-db"));
  flags = Enforced();
  flags.policy.fleet_hosts.reset();
  EXPECT_THAT(ProblemOf(flags), HasSubstr("give --fleet-hosts"));
  flags = Enforced();
  flags.hooks.clear();
  EXPECT_THAT(ProblemOf(flags), HasSubstr("needs a --hook"));
}

TEST(RemovalFlagsTest, AHistorysAddressIsOneInWhateverMode) {
  RemovalFlags flags;
  for (const char* right : {"sqlite:not/there/yet.db", "postgresql://db.example/fleet"}) {
    flags.fleet_db = right;
    EXPECT_TRUE(CheckRemoval(flags).ok()) << right;
  }
  for (const char* wrong : {"fleet.db", "sqlite:", "mysql://db/fleet", "postgresql://a@[/fleet"}) {
    flags.fleet_db = wrong;
    EXPECT_THAT(ProblemOf(flags), HasSubstr("--fleet-db: ")) << wrong;
  }
}

TEST(RemovalFlagsTest, AHookIsAnExecutable) {
  RemovalFlags flags = Enforced();
  flags.hooks = {"/no/such/hook"};
  EXPECT_THAT(ProblemOf(flags), HasSubstr("/no/such/hook"));
  flags.hooks = {"/bin/true", "/bin/true"};
  EXPECT_THAT(ProblemOf(flags), HasSubstr("given twice"));
}

TEST(RemovalFlagsTest, WhatIsOutOfRangeIsNamed) {
  RemovalFlags flags = Enforced();
  flags.removal = "yes";
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--removal: yes"));
  flags = Enforced();
  flags.policy.repetitions = 0;
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--removal-repetitions"));
  flags = Enforced();
  flags.policy.max_hosts_an_hour = -1;
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--removal-hosts-per-hour"));
  flags = Enforced();
  flags.policy.max_share_of_job = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--removal-share-of-job"));
  flags = Enforced();
  flags.policy.window = absl::ZeroDuration();
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--removal-window"));
  flags = Enforced();
  flags.hook_timeout = absl::ZeroDuration();
  EXPECT_THAT(ProblemOf(flags), HasSubstr("--hook-timeout"));
}

}  // namespace
}  // namespace rapideye::coordinator
