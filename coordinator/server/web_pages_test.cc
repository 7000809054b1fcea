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

WorkerOnMap At(const WorkerId& id, WorkerState state) {
  WorkerOnMap worker;
  worker.id = id;
  worker.host = "h";
  worker.state = state;
  return worker;
}

TEST(StatusPageTest, SaysHowTheJobIs) {
  JobStatus status = Watching();
  status.missing.emplace_back().host = "host-7";
  status.last_incident = kId;
  status.waiting =
      JobStatus::Waiting{.still_for = absl::Seconds(4), .threshold = absl::Seconds(10), .why = "w"};
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<h2>llama</h2>"), HasSubstr("<b>3 of 4</b>workers connected"),
                          HasSubstr("<b>1.2 s ago</b>last completion"),
                          HasSubstr("Still for 4.0 s, alarm at 10 s: w"), HasSubstr("host-7"),
                          HasSubstr("Missing: 1 worker<"),
                          HasSubstr(std::string("/incidents/") + kId), HasSubstr("Watching")));
}

TEST(StatusPageTest, LoadsNothingAndIsReadWithoutScript) {
  const JobStatus status = Watching();
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<noscript><meta http-equiv=\"refresh\""),
                          Not(HasSubstr("src=")), Not(HasSubstr("https:"))));
}

TEST(StatusPageTest, LateWorkersAreToldBeforeTheAlarm) {
  JobStatus status = Watching();
  status.workers = {At({0, 0}, WorkerState::kAdvancing), At({0, 1}, WorkerState::kLate)};
  status.workers[1].since_completion = absl::Seconds(8);
  status.workers[1].step = 7;
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(page, AllOf(HasSubstr("hero open"), HasSubstr("<h1>h is late"),
                          HasSubstr("late, 8.0 s ago, step 7"), Not(HasSubstr("Watching"))));
  status.workers[1].host = kHostile;
  EXPECT_THAT(StatusPage(&status, {}), HasSubstr(absl::StrCat("<h1>", kEscaped, " is late")));
  status.workers.insert(status.workers.end(), 3, status.workers[1]);
  EXPECT_THAT(StatusPage(&status, {}), HasSubstr("<h1>4 workers are late"));
  status.workers.resize(1);
  EXPECT_THAT(StatusPage(&status, {}), AllOf(HasSubstr("hero fine"), HasSubstr("Watching")));
}

TEST(StatusPageTest, TheLastHourIsAStripAndSlowMinutesStandOut) {
  JobStatus status = Watching();
  status.last_hour = {{.launches = 60, .mean = absl::Seconds(1), .longest = absl::Seconds(1)},
                      {.launches = 60, .mean = absl::Seconds(1), .longest = absl::Seconds(1)},
                      {},
                      {.launches = 10, .mean = absl::Seconds(4), .longest = absl::Seconds(9)}};
  EXPECT_THAT(
      StatusPage(&status, {}),
      AllOf(HasSubstr("usually 1.0 s a launch, 4.0 s in the slowest minute; 1 of 4 minutes "
                      "slow, 1 without a launch"),
            HasSubstr("class=\"late\" style=\"height:100%\""), HasSubstr("1 min ago: no launch"),
            // A minute is as wide as one of a whole hour.
            HasSubstr("<span></span><span></span><span title=\"3 min ago"),
            HasSubstr("59 min ago</span>")));
}

TEST(StatusPageTest, SlicesThatLookAlikeShareALine) {
  JobStatus status = Watching();
  for (int slice = 0; slice < 64; ++slice) {
    for (int task = 0; task < 64; ++task) {
      status.workers.push_back(At({slice, task}, WorkerState::kAdvancing));
    }
  }
  status.workers[64 * 5].state = WorkerState::kAway;
  EXPECT_THAT(StatusPage(&status, {}),
              AllOf(HasSubstr("Slices 0-4,6-63"), HasSubstr("64 hosts each; 64 advancing"),
                    HasSubstr("<h3>Slice 5 <span class=\"pill amber\">hosts missing")));
}

TEST(StatusPageTest, SlicesThatAreWhollyLateShareALineBeforeTheOthers) {
  JobStatus status = Watching();
  for (int slice = 0; slice < 64; ++slice) {
    for (int task = 0; task < 64; ++task) {
      status.workers.push_back(
          At({slice, task}, slice == 0 ? WorkerState::kAdvancing : WorkerState::kLate));
    }
  }
  status.activity = Activity::kWaiting;
  status.workers.back().host = "culprit";
  status.last_verdict =
      ToldVerdict{.cause = "BAD_TPU_CHIP", .culprits = {"culprit"}, .culprit_hosts = 1};
  const std::string page = StatusPage(&status, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<h3>Slice 63 <span class=\"pill red\">culprit here"),
                          HasSubstr("Slices 1-62"), Not(HasSubstr("<h3>Slice 1 "))));
  EXPECT_LT(page.find("Slices 1-62"), page.find("Slice 0<"));
}

TEST(StatusPageTest, CellsBearTheNamesOfTheirColumnsForNarrowWindows) {
  JobStatus status = Watching();
  status.missing.emplace_back().host = "h7";
  EXPECT_THAT(StatusPage(&status, {}), HasSubstr("<td data-name=\"host\">h7</td>"));
}

TEST(StatusPageTest, AHangSaysWhoAndWhy) {
  JobStatus status = Watching();
  status.last_incident = kId;
  status.last_verdict = ToldVerdict{
      .cause = "BAD_TPU_CHIP", .detail = kHostile, .culprits = {"h1"}, .culprit_hosts = 3};
  EXPECT_THAT(StatusPage(&status, {}), Not(HasSubstr("BAD_TPU_CHIP")));  // the hang is over
  status.activity = Activity::kWaiting;
  EXPECT_THAT(StatusPage(&status, {}),
              AllOf(HasSubstr("BAD_TPU_CHIP"), HasSubstr("h1, … and 2 more"), HasSubstr(kEscaped),
                    Not(HasSubstr("<script>\""))));
}

TEST(StatusPageTest, AHangHasTheHeadingOfItsIncident) {
  JobStatus status = Watching();
  status.activity = Activity::kWaiting;
  status.last_verdict = ToldVerdict{.cause = "BAD_TPU_CHIP",
                                    .detail = "TENSOR_CORE",
                                    .sentence = "h1 chip 2 stopped <in> fusion.2. 31 cores wait.",
                                    .culprits = {"h1"},
                                    .culprit_hosts = 1};
  EXPECT_THAT(StatusPage(&status, {}),
              AllOf(HasSubstr("<h1>h1 chip 2 stopped &lt;in&gt; fusion.2. 31 cores wait.</h1>"),
                    HasSubstr("<span class=\"pill red\">BAD_TPU_CHIP TENSOR_CORE</span> h1</p>")));
  status.last_verdict->cause = "UNKNOWN";
  EXPECT_THAT(StatusPage(&status, {}), HasSubstr("<span class=\"pill amber\">UNKNOWN"));
}

TEST(StatusPageTest, CulpritsAreMarkedAmongTheSlowest) {
  JobStatus status = Watching();
  status.slowest.resize(2);
  status.slowest[0].host = "h1";
  EXPECT_THAT(StatusPage(&status, {}), AllOf(HasSubstr("<h2>Longest without a completion</h2>"),
                                             Not(HasSubstr("<b>culprit</b>"))));
  status.slowest[0].accused = true;
  EXPECT_THAT(StatusPage(&status, {}),
              AllOf(HasSubstr("<h2>Culprits, then who is longest without a completion</h2>"),
                    HasSubstr("<tr class=\"culprit\">"), HasSubstr("h1 <b>culprit</b>")));
}

TEST(StatusPageTest, EveryActivityIsTold) {
  JobStatus status = Watching();
  for (const Activity activity : {Activity::kLearning, Activity::kArmed, Activity::kCollecting,
                                  Activity::kConcluding, Activity::kWaiting}) {
    status.activity = activity;
    EXPECT_THAT(StatusPage(&status, {}), Not(HasSubstr("<h1></h1>"))) << ActivityName(activity);
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
  EXPECT_THAT(page, AllOf(HasSubstr(kEscaped), Not(HasSubstr("<script>\""))));
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
  const std::string page = IncidentsPage({incident}, /*newest_only=*/true, nullptr);
  EXPECT_THAT(page, AllOf(HasSubstr(std::string("href=\"/incidents/") + kId + ".json\""),
                          HasSubstr("BAD_TPU_CHIP TENSOR_CORE"), HasSubstr("0.97"),
                          HasSubstr("h1, h2, … and 10 more"), HasSubstr("The newest 1"),
                          Not(HasSubstr("<br>"))));
  incident.sentence = "h1 <stopped>.";
  EXPECT_THAT(IncidentsPage({incident}, false, nullptr),
              HasSubstr("<br><span class=\"soft small\">h1 &lt;stopped&gt;.</span>"));
}

TEST(IncidentsPageTest, OneIsOpenTheOthersAreOver) {
  IncidentSummary incident;
  incident.id = kId;
  incident.detected_at = "2026-11-20T12:44:19Z";
  incident.cause = "UNKNOWN";
  JobStatus status = Watching();
  status.last_incident = kId;
  EXPECT_THAT(IncidentsPage({incident}, false, nullptr), HasSubstr("data-state=\"unknown\""));
  EXPECT_THAT(IncidentsPage({incident}, false, &status), HasSubstr("data-state=\"over\""));
  status.ended = {{kId, absl::FromUnixSeconds(1'795'178'659 + 125)}};
  EXPECT_THAT(IncidentsPage({incident}, false, &status),
              AllOf(HasSubstr("data-state=\"recovered\""), HasSubstr(" after 2 min 5 s")));
  status.activity = Activity::kWaiting;
  EXPECT_THAT(IncidentsPage({incident}, false, &status), HasSubstr("data-state=\"open\""));
}

TEST(IncidentsPageTest, TheDiskRemembersTheEndAndWhoTookCareOfIt) {
  IncidentSummary incident;
  incident.id = kId;
  incident.detected_at = "2026-11-20T12:44:19Z";
  incident.ended = {.id = kId, .ended = absl::FromUnixSeconds(1'795'178'659 + 125), .why = ""};
  incident.acknowledged = {.at = {}, .reason = "", .by = kHostile};
  const std::string page = IncidentsPage({incident}, false, nullptr);
  EXPECT_THAT(page, AllOf(HasSubstr("data-state=\"recovered\""), HasSubstr(" after 2 min 5 s"),
                          HasSubstr(std::string("acknowledged by ") + kEscaped)));
  JobStatus status = Watching();
  status.acknowledged = {.at = {}, .reason = kHostile, .by = "ann"};
  EXPECT_THAT(StatusPage(&status, {}), HasSubstr(std::string("Acknowledged by ann: ") + kEscaped));
}

TEST(IncidentsPageTest, NoneAndDamaged) {
  EXPECT_THAT(IncidentsPage({}, false, nullptr), HasSubstr("None."));
  IncidentSummary incident;
  incident.id = kId;
  incident.job = incident.cause = kHostile;
  incident.problem = kHostile;
  EXPECT_THAT(IncidentsPage({incident}, false, nullptr),
              AllOf(HasSubstr(std::string("damaged: ") + kEscaped), Not(HasSubstr("<script>\""))));
}

}  // namespace
}  // namespace rapideye::coordinator
