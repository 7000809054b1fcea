#include "coordinator/server/web_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] = "<script>\"'&\n";
constexpr char kEscaped[] = "&lt;script&gt;&quot;&#39;&amp;\\n";
constexpr char kId[] = "20261120T124419Z-5dc4d1c8";

JobStatus Watching() {
  JobStatus status;
  status.job = "llama";
  status.activity = Activity::kArmed;
  status.expected = 4;
  status.connected = 3;
  status.running = 2;
  status.since_completion = absl::Milliseconds(1250);
  return status;
}

TEST(StatusPageTest, SaysHowTheJobIs) {
  JobStatus status = Watching();
  status.missing.emplace_back().host = "host-7";
  status.last_incident = kId;
  status.waiting =
      JobStatus::Waiting{.still_for = absl::Seconds(4), .threshold = absl::Seconds(10), .why = "w"};
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(
      page, AllOf(HasSubstr("<h1>llama</h1>"), HasSubstr("3 of 4 workers connected, 2"),
                  HasSubstr("last completion 1.2s ago"), HasSubstr("Still for 4s, alarm at 10s: w"),
                  HasSubstr("host-7"), HasSubstr("Missing: 1 workers"),
                  HasSubstr(std::string("/incidents/") + kId), HasSubstr("Watching")));
}

TEST(StatusPageTest, AsksAgainByItselfAndLoadsNothing) {
  const JobStatus status = Watching();
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(page, AllOf(HasSubstr("http-equiv=\"refresh\""), Not(HasSubstr("<script")),
                          Not(HasSubstr("src=")), Not(HasSubstr("//"))));
}

TEST(StatusPageTest, EveryActivityIsTold) {
  JobStatus status = Watching();
  for (const Activity activity : {Activity::kLearning, Activity::kArmed, Activity::kCollecting,
                                  Activity::kConcluding, Activity::kWaiting}) {
    status.activity = activity;
    EXPECT_THAT(StatusPage(&status, {}), Not(HasSubstr("\"><p></p>"))) << ActivityName(activity);
  }
}

TEST(StatusPageTest, TextOfPeersIsNoMarkup) {
  JobStatus status = Watching();
  status.job = status.incarnation.emplace(kHostile);
  status.generation = kHostile;
  status.waiting = JobStatus::Waiting{.still_for = {}, .threshold = {}, .why = kHostile};
  WorkerStatus worker;
  worker.host = kHostile;
  status.missing = {worker};
  worker.module = kHostile;
  status.slowest = {worker};
  status.cohorts = {{kHostile, 2, {kHostile}}, {kHostile, 2, {kHostile}}};
  DiskReport disk;
  disk.problem = kHostile;
  const std::string page = StatusPage(&status, disk);
  EXPECT_THAT(page, AllOf(HasSubstr(kEscaped), Not(HasSubstr("<script"))));
}

TEST(StatusPageTest, SaysWhenTheDiskFailsOrTheCoreDoesNotAnswer) {
  DiskReport disk;
  disk.problem = "No space left";
  disk.pending_incidents = 2;
  EXPECT_THAT(StatusPage(nullptr, disk),
              AllOf(HasSubstr("No space left"), HasSubstr("2 wait in memory"),
                    HasSubstr("has not answered")));
}

TEST(IncidentsPageTest, ListsThem) {
  IncidentSummary incident;
  incident.id = kId;
  incident.detected_at = "2026-11-20T12:44:19Z";
  incident.job = "llama";
  incident.cause = "BAD_TPU_CHIP";
  incident.detail = "TENSOR_CORE";
  incident.confidence = 0.968;
  incident.culprits = {"h1", "h2"};
  incident.culprit_hosts = 12;
  const std::string page = IncidentsPage({incident}, /*newest_only=*/true);
  EXPECT_THAT(page, AllOf(HasSubstr(std::string("href=\"/incidents/") + kId + ".json\""),
                          HasSubstr("BAD_TPU_CHIP TENSOR_CORE"), HasSubstr("0.97"),
                          HasSubstr("h1, h2, … and 10 more"), HasSubstr("The newest 1")));
}

TEST(IncidentsPageTest, NoneAndDamaged) {
  EXPECT_THAT(IncidentsPage({}, false), HasSubstr("None."));
  IncidentSummary incident;
  incident.id = kId;
  incident.job = incident.cause = kHostile;
  incident.problem = kHostile;
  EXPECT_THAT(IncidentsPage({incident}, false),
              AllOf(HasSubstr(std::string("damaged: ") + kEscaped), Not(HasSubstr("<script"))));
}

}  // namespace
}  // namespace rapideye::coordinator
