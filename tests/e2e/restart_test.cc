// Processes that end and come back while nothing is wrong with the job.
#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using Restart = RunningJobTest;

TEST_F(Restart, AJobThatRestartsUnderItsAgentsRaisesNothing) {
  Start(JobLike(/*seed=*/1));
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    Check(job_->EndJob(how));
    // Longer than a launch may take: while there is no job, nothing hangs.
    Check(job_->Watch(LaunchThreshold(job_->options()) + absl::Seconds(1)));
    Check(job_->StartNextJob());
    Advance();
  }
  ExpectNoMoreThan(0);
}

TEST_F(Restart, AJobThatRestartsWithItsAgentsRaisesNothing) {
  JobOptions options = JobLike(/*seed=*/1);
  options.agents_in_pods = true;
  Start(options);
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    Check(job_->RestartJob(how));
    Advance();
  }
  ExpectNoMoreThan(0);
}

TEST_F(Restart, DaemonsThatRestartRaiseNothing) {
  JobOptions options = JobLike(/*seed=*/1);
  options.tls = true;
  Start(options);
  for (Ending how : {Ending::kAsked, Ending::kKilled}) {
    for (WorkerId worker : AllWorkers(options.shape)) Check(job_->RestartAgent(worker, how));
    Check(job_->RestartCoordinator(how));
    Check(job_->AwaitAllConnected(kPatience));
    Advance();
  }
  ExpectNoMoreThan(0);
}

TEST_F(Restart, AnAgentOfAForeignAuthorityIsNotLetIn) {
  JobOptions options = JobLike(/*seed=*/1);
  options.tls = true;
  options.foreign_agents = {{1, 2}};
  Start(options);
  Check(job_->AwaitCoordinatorLog("(5 connected)", kPatience));
  const absl::Status let_in = job_->AwaitAllConnected(absl::Seconds(3));
  EXPECT_TRUE(absl::IsDeadlineExceeded(let_in)) << let_in;
  ExpectNoMoreThan(0);
}

}  // namespace
}  // namespace rapideye::testbed
