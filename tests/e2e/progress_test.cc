// Tests verdicts and alarms on the progress pages that training loops write.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/processes.h"

namespace rapideye::testbed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Progress = EndToEndTest;

// Without a page the detail is PROGRAM_NOT_QUEUED (input_test.cc).
TEST_F(Progress, AWaitForInputThatIsSeenOnThePage) {
  ExpectRightVerdict(Options(/*programs=*/1, /*seed=*/9), "input-dry-page");
}

// No core and no launch is known: steps, pages and stacks are all the evidence.
TEST_F(Progress, WithoutRuntimesTheStepsOfThePagesAreNoticedToStop) {
  ExperimentOptions options = Options(/*programs=*/1, /*seed=*/9);
  options.job.hidden_runtimes = true;
  options.job.progress_pages = true;
  ExpectRightVerdict(options, "input-dry-page");
}

using AnnouncedPause = RunningJobTest;

// The other workers stand in a launch for longer than the threshold that the coordinator finds
// itself. Two minutes of such a pause, in virtual time: coordinator/core/pauses_test.cc.
TEST_F(AnnouncedPause, OfOneWorkerRaisesNothing) {
  JobOptions options = JobLike(/*seed=*/3);
  options.launch_threshold.reset();
  options.hang_threshold.reset();
  options.progress_pages = true;
  Start(options);
  const WorkerId worker{1, 1};
  Check(job_->Inject(worker, "checkpoint seconds=13"));
  ASSERT_GT(absl::Seconds(13), LaunchThreshold(options) + absl::Seconds(2));
  Check(job_->AwaitEffect(worker, kPatience).status());
  Check(job_->AwaitStep(job_->StepOfSlowest() + 20, kPatience));
  EXPECT_THAT(job_->Incidents(), IsEmpty());
  Check(job_->Stop());
  std::ifstream file(LogPath(options, "coordinator"));
  const std::string log((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(log, HasSubstr("are connected"));
  EXPECT_THAT(log, Not(HasSubstr("collecting from")));
}

// A save that hangs: the first look takes the save for an excuse, but only for the longest pause.
TEST_F(AnnouncedPause, ThatNeverEndsIsToldOfOnceItIsNoExcuseAnyMore) {
  JobOptions options = JobLike(/*seed=*/4);
  options.progress_pages = true;
  options.coordinator_flags = {"--longest-pause=12s"};
  Start(options);
  const WorkerId worker{1, 1};
  Check(job_->Inject(worker, "checkpoint seconds=600"));
  Check(job_->AwaitEffect(worker, kPatience).status());
  Check(job_->AwaitCoordinatorLog("NO_HANG PAUSED", kPatience));
  EXPECT_THAT(job_->Incidents(), IsEmpty());
  const absl::StatusOr<std::string> incident = job_->AwaitIncident(kPatience);
  Check(incident.status());
  const absl::StatusOr<Finding> finding = Diagnose(*incident + "/capture.jsonl.gz");
  Check(finding.status());
  EXPECT_EQ(finding->cause, "DATA_INPUT_STALL");
  EXPECT_EQ(finding->detail, "PROGRAM_NOT_QUEUED");
  std::ifstream file(*incident + "/digest.json");
  const std::string digest((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_THAT(digest, HasSubstr("\"hostActivity\": \"CHECKPOINT_SAVE\""));
  EXPECT_THAT(digest, HasSubstr("for which that is an excuse"));
  // The first look has given the incident its name already.
  Check(job_->AwaitCoordinatorLog(
      absl::StrCat("looking again at incident ", incident->substr(incident->rfind('/') + 1)),
      kPatience));
  ExpectNoMoreThan(1);
}

}  // namespace
}  // namespace rapideye::testbed
