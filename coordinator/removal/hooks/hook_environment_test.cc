#include "coordinator/removal/hooks/hook_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

HookRun Call() {
  return {.hook = "/hook",
          .incident = "20261120T120000Z-0badcafe",
          .cause = "BAD_TPU_CHIP",
          .job = "train",
          .remove_hosts = {"host-3", "host-7"},
          .remove_nodes = {"", "node-7"},
          .digest = nullptr};
}

TEST(HookEnvironment, IsSmall) {
  EXPECT_THAT(HookEnvironment(Call(), {"PATH=/bin", "HOME=/root", "EDITOR=vi", "RAPIDEYE_JOB=other",
                                       "RAPIDEYE_FLEET_DB=postgresql://me:secret@db"}),
              ElementsAre("HOME=/root", "PATH=/bin", "RAPIDEYE_CALLER=coordinator",
                          "RAPIDEYE_CAUSE=BAD_TPU_CHIP", "RAPIDEYE_EVENT=opened",
                          "RAPIDEYE_INCIDENT=20261120T120000Z-0badcafe", "RAPIDEYE_JOB=train",
                          "RAPIDEYE_REMOVE_HOSTS=host-3,host-7", "RAPIDEYE_REMOVE_NODES=,node-7",
                          "RAPIDEYE_REVISION=1"));
  HookRun unnamed = Call();
  unnamed.job_by_worker = true;
  EXPECT_THAT(HookEnvironment(unnamed, {}), Contains("RAPIDEYE_JOB_STATED_BY=worker"));
  HookRun later = Call();
  later.revision = 2;
  EXPECT_THAT(HookEnvironment(later, {}), Contains("RAPIDEYE_REVISION=2"));
}

TEST(HookEnvironment, HoldsTheHooksSettingsAndWhereThePlatformIs) {
  const auto environment = HookEnvironment(
      Call(), {"RAPIDEYE_HOOK_WEBHOOK_URL=https://x", "KUBERNETES_SERVICE_HOST=10.0.0.1",
               "nonsense", "RAPIDEYE_HOOK_WEBHOOK_URL=https://later"});
  EXPECT_THAT(environment, Contains("RAPIDEYE_HOOK_WEBHOOK_URL=https://x"));
  EXPECT_THAT(environment, Not(Contains("RAPIDEYE_HOOK_WEBHOOK_URL=https://later")));
  EXPECT_THAT(environment, Contains("KUBERNETES_SERVICE_HOST=10.0.0.1"));
  EXPECT_THAT(environment, Not(Contains("nonsense")));
}

TEST(HookEnvironment, OfARecoveryItSaysWhen) {
  HookRun call = Call();
  call.event = "recovered";
  call.ended_at = "2026-11-20T12:44:19+00:00";
  EXPECT_THAT(HookEnvironment(call, {"RAPIDEYE_EVENT=opened"}),
              ::testing::IsSupersetOf(
                  {"RAPIDEYE_EVENT=recovered", "RAPIDEYE_ENDED_AT=2026-11-20T12:44:19+00:00"}));
}

TEST(HookEnvironment, NothingToRemoveIsAnEmptyVariable) {
  HookRun call = Call();
  call.remove_hosts.clear();
  const auto environment = HookEnvironment(call, {});
  EXPECT_THAT(environment, Contains("RAPIDEYE_REMOVE_HOSTS="));
  EXPECT_THAT(environment, Contains("HOME=/"));
  EXPECT_THAT(environment, Contains(::testing::StartsWith("PATH=/usr/")));
}

TEST(HookEnvironment, AZeroByteEndsNothing) {
  HookRun call = Call();
  call.job = std::string("a\0b", 3);
  EXPECT_THAT(HookEnvironment(call, {}), Contains("RAPIDEYE_JOB=ab"));
}

}  // namespace
}  // namespace rapideye::coordinator
