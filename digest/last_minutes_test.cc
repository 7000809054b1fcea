// The last minutes as the page draws them, of a job of which only the logs are known, and of cores
// that loop.
#include "digest/last_minutes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Four workers log a step every 10 s. Worker 2 logs none after 300 s before the end; the others
// wait for it, and end with a line that says so.
struct LogsOfFour {
  Capture capture = FrozenJob(1, 4);
  LogEvidence logs;
  Verdict verdict;

  LogsOfFour() {
    capture.header.detected_unix_ms = 1'795'348'800'000;  // 2026-11-22 12:00:00
    for (Snapshot& snapshot : capture.snapshots) {
      snapshot.cores.clear();
      WorkerLog& log = logs.workers.emplace_back();
      log.worker = snapshot.worker;
      log.step = 37;
      for (int64_t age = 350'000; age >= 300'000; age -= 10'000) log.step_ages_ms.push_back(age);
      const bool silent = snapshot.worker.task == 2;
      log.last_line_ms = silent ? 300'000 : 0;
      log.last_line = silent ? "completed step: 37" : "Timed out waiting for the other workers";
    }
    verdict.cause = Cause::kUnrecoverableError;
    verdict.detail = Detail::kWorkerLost;
    Culprit& culprit = verdict.culprits.emplace_back();
    culprit.worker = {0, 2};
    culprit.host = "tpu-0-2";
  }

  Report Build() const {
    ReportContext context;
    context.logs = &logs;
    return BuildReport(capture, verdict, context);
  }
};

LogEvent Raised(int64_t age_ms, const std::string& text) {
  LogEvent event;
  event.kind = LogKind::kUncaughtException;
  event.text = text;
  event.age_ms = age_ms;
  return event;
}

TEST(LogLanesTest, EveryRankHasALaneThatEndsWhereItsLogDoes) {
  const Report report = LogsOfFour().Build();
  const LastMinutes& minutes = report.last_minutes;
  ASSERT_THAT(minutes.lanes, SizeIs(4));
  const Lane& first = minutes.lanes[0];
  EXPECT_EQ(first.name, "tpu-0-2");
  EXPECT_TRUE(first.culprit);
  EXPECT_EQ(first.end_age_ms, 300'000);
  EXPECT_THAT(first.completions, ElementsAre(350'000, 340'000, 330'000, 320'000, 310'000, 300'000));
  ASSERT_THAT(first.stops, SizeIs(1));
  EXPECT_EQ(first.stops[0].kind, StopKind::kSilence);
  EXPECT_EQ(minutes.lanes[1].end_age_ms, 0);
  EXPECT_THAT(minutes.log, Contains(AllOf(Field(&LoggedLine::text, "completed step: 37"),
                                          Field(&LoggedLine::last, true),
                                          Field(&LoggedLine::workers, ElementsAre(2)))));
  EXPECT_THAT(RenderHtml(report),
              AllOf(HasSubstr("tpu-0-2: its last line"), HasSubstr("It happened in this order"),
                    HasSubstr("A lane is a worker's log"), HasSubstr("The logs end: <b>2026-11-22"),
                    HasSubstr("(its last line)"), Not(HasSubstr("Detected"))));
}

TEST(LogLanesTest, TheFirstErrorIsMarkedAndItsEndIsNoSilence) {
  LogsOfFour job;
  Snapshot& snapshot = SnapshotOf(job.capture, 0, 2);
  snapshot.log_events = {Raised(299'000, "ValueError: later"),
                         Raised(301'000, "ValueError: first")};
  const Report report = job.Build();
  ASSERT_THAT(report.last_minutes.lanes[0].stops, SizeIs(1));
  const Stop& stop = report.last_minutes.lanes[0].stops[0];
  EXPECT_EQ(stop.kind, StopKind::kError);
  EXPECT_EQ(stop.age_ms, 301'000);
  EXPECT_THAT(RenderHtml(report), HasSubstr("tpu-0-2: its first error"));
  // It logged on for a minute: when it fell silent is worth a mark of its own.
  snapshot.log_events = {Raised(360'000, "ValueError: first")};
  EXPECT_THAT(job.Build().last_minutes.lanes[0].stops, SizeIs(2));
}

TEST(LogLanesTest, WhoNeverLoggedAStepIsNotSaidToFallSilent) {
  LogsOfFour job;
  for (const size_t worker : {size_t{1}, size_t{2}}) {
    job.logs.workers[worker].step.reset();
    job.logs.workers[worker].step_ages_ms.clear();
    job.logs.workers[worker].last_line_ms = 7'200'000;
  }
  const Report report = job.Build();
  EXPECT_THAT(report.last_minutes.lanes[0].stops, SizeIs(1));  // the culprit's
  for (const Lane& lane : report.last_minutes.lanes) {
    if (lane.name != "tpu-0-1") continue;
    EXPECT_THAT(lane.stops, IsEmpty());
  }
}

TEST(LogLanesTest, WhoLoggedOnlyAtTheStartDoesNotStretchTheDrawing) {
  LogsOfFour job;
  const std::string before = RenderHtml(job.Build());
  job.logs.workers[1].step.reset();
  job.logs.workers[1].step_ages_ms.clear();
  job.logs.workers[1].last_line_ms = 86'400'000;
  const std::string after = RenderHtml(job.Build());
  // The hours of the day below the lanes stay those of the last minutes.
  EXPECT_THAT(before, HasSubstr(">11:5"));
  EXPECT_THAT(after, AllOf(HasSubstr(">11:5"), Not(HasSubstr(">06:"))));
}

TEST(LogLanesTest, ALastLineThatIsAnEventIsShownOnce) {
  LogsOfFour job;
  SnapshotOf(job.capture, 0, 2).log_events = {Raised(300'000, "ValueError: x")};
  job.logs.workers[2].last_line = "E1122 trainer.py:7] ValueError: x";
  for (const LoggedLine& line : job.Build().last_minutes.log) {
    EXPECT_FALSE(line.culprit && line.last) << line.text;
  }
}

TEST(LogLanesTest, AMinorLineOfAllIsNotTheCulprits) {
  LogsOfFour job;
  LogEvent told = Raised(1'000, "Polled an error from coordination service");
  told.kind = LogKind::kFollowOn;
  for (Snapshot& snapshot : job.capture.snapshots) snapshot.log_events = {told};
  EXPECT_THAT(RenderHtml(job.Build()), HasSubstr("coordination service (4 workers)</span>"));
}

TEST(LogLanesTest, ManyRanksAreFoldedAndCounted) {
  LogsOfFour job;
  job.capture = FrozenJob(1, 64);
  job.logs.workers.clear();
  for (Snapshot& snapshot : job.capture.snapshots) {
    snapshot.cores.clear();
    WorkerLog& log = job.logs.workers.emplace_back();
    log.worker = snapshot.worker;
    log.step = 37;
    log.step_ages_ms = {310'000, 300'000};
    log.last_line_ms = snapshot.worker.task == 2 ? 300'000 : 0;
    log.last_line = absl::StrCat("rank ", snapshot.worker.task, " waits");
  }
  const Report report = job.Build();
  ASSERT_THAT(report.last_minutes.lanes, SizeIs(2));
  EXPECT_EQ(report.last_minutes.lanes[1].name, "63 workers");
  EXPECT_EQ(report.last_minutes.lanes[1].stops[0].logs, 63u);
  EXPECT_THAT(RenderHtml(report), HasSubstr("; 62 more workers with it"));
  EXPECT_THAT(report.last_minutes.log, SizeIs(2));  // the culprit's last line, and the others'
}

TEST(LogLanesTest, LogsWithoutTimesHaveNoLanes) {
  LogsOfFour job;
  job.capture.header.detected_unix_ms.reset();
  for (WorkerLog& log : job.logs.workers) {
    log.last_line_ms.reset();
    log.step_ages_ms.clear();
  }
  const Report report = job.Build();
  EXPECT_THAT(report.last_minutes.lanes, IsEmpty());
  EXPECT_THAT(RenderHtml(report), HasSubstr("(its last line)"));
}

TEST(PhaseTest, PhasesStandBelowTheLanes) {
  ExampleCase example = ExampleCases().front();
  for (Snapshot& snapshot : example.capture.snapshots) {
    Progress& progress = snapshot.progress.emplace();
    progress.phase = Phase::kStep;
    if (snapshot.worker == WorkerId{1, 2}) progress.phase = Phase::kCheckpoint;
  }
  const Report report = BuildReport(example.capture, example.verdict, {});
  EXPECT_EQ(report.last_minutes.lanes[0].phase, "checkpoint, step");
  EXPECT_EQ(report.last_minutes.lanes[1].phase, "step");
  EXPECT_THAT(RenderHtml(report), AllOf(HasSubstr("in phase checkpoint, step</span>"),
                                        HasSubstr("in phase step</span>")));
  SnapshotOf(example.capture, 1, 2).progress->phase = Phase::kStep;
  EXPECT_THAT(RenderHtml(BuildReport(example.capture, example.verdict, {})),
              Not(HasSubstr("in phase step</span>")));  // as everywhere
}

TEST(LoopTest, ACoreThatLoopsStoppedWhenItsLastLaunchCompleted) {
  ExampleCase example = ExampleCases().front();
  Core& culprit = SnapshotOf(example.capture, 1, 2).cores[2];
  culprit.transitions.clear();
  culprit.stuck_ms = 65'000;
  culprit.sequencers[0].frozen_ms = 200;
  const Report report = BuildReport(example.capture, example.verdict, {});
  const Stop& first = report.last_minutes.lanes[0].stops[0];
  EXPECT_EQ(first.kind, StopKind::kLoop);
  EXPECT_EQ(first.age_ms, 65'000);
  EXPECT_THAT(RenderHtml(report), AllOf(HasSubstr("TensorCore 0 loops from here on"),
                                        Not(HasSubstr("TensorCore 0 stops<"))));
}

}  // namespace
}  // namespace rapideye::digest
