// Processes that end and come back while nothing is wrong with the job.
#include <gmock/gmock.h>

#include <memory>

#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/job.h"

namespace rapideye::testbed {
namespace {

using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(40);
constexpr int64_t kSteps = 10;

class Restart : public EndToEndTest {
 protected:
  void Start(JobOptions options) {
    absl::StatusOr<std::unique_ptr<Job>> job = Job::Start(std::move(options));
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
    Advance();
  }
  void Check(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }
  // Every worker completes some more steps.
  void Advance() { Check(job_->AwaitStep(job_->StepOfSlowest() + kSteps, kPatience)); }
  // Longer than a hang would go unnoticed.
  void ExpectQuiet() {
    Check(job_->Watch(LaunchThreshold(job_->options()) + absl::Seconds(2)));
    EXPECT_THAT(job_->Incidents(), IsEmpty());
    Check(job_->Stop());
  }

  std::unique_ptr<Job> job_;
};

TEST_F(Restart, AJobThatRestartsUnderItsAgentsRaisesNothing) {
  Start(Options(/*programs=*/1, /*seed=*/1).job);
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    Check(job_->EndJob(how));
    Check(job_->Watch(absl::Seconds(4)));
    Check(job_->StartNextJob());
    Advance();
  }
  ExpectQuiet();
}

TEST_F(Restart, AJobThatRestartsWithItsAgentsRaisesNothing) {
  JobOptions options = Options(/*programs=*/1, /*seed=*/1).job;
  options.agents_in_pods = true;
  Start(options);
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    Check(job_->RestartJob(how));
    Advance();
  }
  ExpectQuiet();
}

TEST_F(Restart, AgentsThatRestartRaiseNothing) {
  Start(Options(/*programs=*/1, /*seed=*/1).job);
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    for (WorkerId worker : AllWorkers(job_->options().shape)) {
      Check(job_->RestartAgent(worker, how));
    }
    Check(job_->AwaitAllConnected(kPatience));
    Advance();
  }
  ExpectQuiet();
}

TEST_F(Restart, ACoordinatorThatRestartsIsFoundAgainAndRaisesNothing) {
  JobOptions options = Options(/*programs=*/1, /*seed=*/1).job;
  options.tls = true;
  Start(options);
  Check(job_->AwaitAllConnected(kPatience));
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    Check(job_->RestartCoordinator(how));
    Check(job_->AwaitAllConnected(kPatience));
    Advance();
  }
  ExpectQuiet();
}

}  // namespace
}  // namespace rapideye::testbed
