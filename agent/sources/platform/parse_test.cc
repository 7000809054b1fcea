#include "agent/sources/platform/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/sources/platform/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kNow = absl::FromUnixSeconds(1'795'400'000);  // 2026-11-23T02:13:20Z

TEST(ComputeEngineTest, SaysWhenItTakesTheMachine) {
  EXPECT_THAT(ParsePreempted("FALSE\n"), IsEmpty());
  ASSERT_THAT(ParsePreempted("TRUE"), SizeIs(1));
  EXPECT_EQ(ParsePreempted("TRUE")[0].kind, LogKind::kPreempted);
  EXPECT_THAT(ParseMaintenanceEvent("NONE"), IsEmpty());
  ASSERT_THAT(ParseMaintenanceEvent("TERMINATE_ON_HOST_MAINTENANCE"), SizeIs(1));
  EXPECT_THAT(ParseMaintenanceEvent("TERMINATE_ON_HOST_MAINTENANCE")[0].text,
              HasSubstr("TERMINATE_ON_HOST_MAINTENANCE"));
}

TEST(ComputeEngineTest, AMaintenanceThatIsPlannedHasNotBegun) {
  const auto of = [](const char* status, const char* begins) {
    return ParseUpcomingMaintenance(
        absl::StrCat(R"({"type":"SCHEDULED","can_reschedule":"true","maintenance_status":")",
                     status, R"(","window_start_time":")", begins, R"("})"),
        kNow);
  };
  EXPECT_THAT(*of("PENDING", "2026-11-24T00:00:00Z"), IsEmpty());
  ASSERT_THAT(*of("PENDING", "2026-11-23T02:12:20Z"), SizeIs(1));
  EXPECT_EQ((*of("PENDING", "2026-11-23T02:12:20Z"))[0].age, absl::Minutes(1));
  EXPECT_THAT(*of("ONGOING", "2026-11-24T00:00:00Z"), SizeIs(1));
  EXPECT_THAT(*ParseUpcomingMaintenance("{}", kNow), IsEmpty());
  EXPECT_FALSE(ParseUpcomingMaintenance("[", kNow).ok());
}

TEST(KubernetesTest, ConditionsAndTaintsOfTheNode) {
  const auto events = ParseNode(R"({"spec": {"taints": [
      {"key": "google.com/tpu", "effect": "NoSchedule"},
      {"key": "cloud.google.com/impending-node-termination", "effect": "NoSchedule"}]},
    "status": {"conditions": [
      {"type": "MemoryPressure", "status": "True"},
      {"type": "KernelDeadlock", "status": "False"},
      {"type": "ReadonlyFilesystem", "status": "True", "reason": "FilesystemIsReadOnly",
       "message": "Remounting\nfilesystem read-only", "lastTransitionTime": "2026-11-23T02:12:20Z"},
      {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}, 7]}})",
                                kNow);
  ASSERT_TRUE(events.ok());
  ASSERT_THAT(*events, SizeIs(3));
  EXPECT_EQ((*events)[0].kind, LogKind::kHostCrash);
  EXPECT_EQ((*events)[0].text,
            "Kubernetes says of the node: ReadonlyFilesystem is True (FilesystemIsReadOnly): "
            "Remounting filesystem read-only");
  EXPECT_EQ((*events)[0].age, absl::Minutes(1));
  EXPECT_THAT((*events)[1].text, HasSubstr("Ready is Unknown"));
  EXPECT_EQ((*events)[2].kind, LogKind::kPreempted);
  const auto healthy =
      ParseNode(R"({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})", kNow);
  EXPECT_THAT(*healthy, IsEmpty());
  EXPECT_FALSE(ParseNode("null", kNow).ok());
}

TEST(KubernetesTest, EventsThatEndAWorkerAndAreNotOld) {
  const auto events = ParseEvents(R"({"items": [
      {"reason": "Pulled", "lastTimestamp": "2026-11-23T02:13:00Z"},
      {"reason": "Preempted", "message": "Preempted by a pod on node n1",
       "lastTimestamp": "2026-11-23T02:13:00Z", "involvedObject": {"kind": "Pod"}},
      {"reason": "NodeNotReady", "eventTime": "2026-11-23T02:13:10.000000Z", "lastTimestamp": null,
       "involvedObject": {"kind": "Node"}},
      {"reason": "Evicted", "lastTimestamp": "2026-11-22T02:13:00Z"},
      {"reason": "Evicted"}]})",
                                  kNow);
  ASSERT_TRUE(events.ok());
  ASSERT_THAT(*events, SizeIs(2));
  EXPECT_EQ((*events)[0].kind, LogKind::kPreempted);
  EXPECT_EQ((*events)[0].text,
            "Kubernetes says of the pod: Preempted: Preempted by a pod on node n1");
  EXPECT_EQ((*events)[0].age, absl::Seconds(20));
  EXPECT_EQ((*events)[1].kind, LogKind::kHostCrash);
}

TEST(SlurmTest, TheStateOfTheNodeAndItsReason) {
  const auto state = [](const char* line) { return ParseSlurmNode(line); };
  EXPECT_THAT(*state("NodeName=n1 Arch=x86_64 State=ALLOCATED ThreadsPerCore=1\n"), IsEmpty());
  const auto drained = state(
      "NodeName=n1 State=MIXED+DRAIN ThreadsPerCore=1 Reason=bad NIC [root@2026-11-23T03:00:00]\n");
  ASSERT_THAT(*drained, SizeIs(1));
  EXPECT_EQ((*drained)[0].kind, LogKind::kHostCrash);
  EXPECT_EQ((*drained)[0].text,
            "Slurm says of the node: MIXED+DRAIN: bad NIC [root@2026-11-23T03:00:00]");
  EXPECT_EQ((*state("State=IDLE+MAINT Reason=x"))[0].kind, LogKind::kPreempted);
  EXPECT_EQ((*state("State=ALLOCATED* X=1"))[0].kind, LogKind::kHostCrash);
  EXPECT_FALSE(state("Node n1 not found").ok());
}

}  // namespace
}  // namespace rapideye::agent
