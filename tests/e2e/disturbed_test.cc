// Tests how an incident ends when processes or the disk fail in the midst of it.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

constexpr int kSeed = 2;
// A worker that this seed does not pick as the victim.
const WorkerId kBystander{0, 2};

class Disturbed : public RunningJobTest {
 protected:
  // One agent answers nothing, so that the collection lasts for seconds.
  Truth CollectForLong() {
    job_->SignalAgent(kBystander, SIGSTOP);
    const Truth truth = BreakAndAwaitCollection("bad-chip", kSeed);
    EXPECT_NE(truth.culprits.front().worker, kBystander);
    return truth;
  }
};

TEST_F(Disturbed, ACoordinatorThatIsAskedToEndTellsWhatItHas) {
  Start(JobLike(kSeed));
  const Truth truth = CollectForLong();
  Check(job_->Watch(absl::Seconds(1)));  // the others have answered by then
  Check(job_->EndCoordinator(Ending::kAsked));
  const Incident incident = ExpectIncident(truth, 0);
  EXPECT_THAT(incident.finding.missing, ElementsAre(Field(&Named::worker, kBystander)));
  job_->SignalAgent(kBystander, SIGCONT);
  // The next coordinator finds the hang, and learns that it was reported before.
  Check(job_->StartCoordinator());
  Check(job_->AwaitAllConnected(kPatience));
  ExpectNoMoreThan(1);
}

TEST_F(Disturbed, AnAgentThatRestartsIsHeardAgain) {
  Start(JobLike(kSeed));
  const Truth truth = CollectForLong();
  Check(job_->RestartAgent(kBystander, Ending::kKilled));
  ExpectIncident(truth, 0);
  ExpectNoMoreThan(1);
}

TEST_F(Disturbed, AJobThatRestartsTakesItsIncidentAlong) {
  Start(JobLike(kSeed));
  CollectForLong();
  Check(job_->RestartJob(Ending::kKilled));
  job_->SignalAgent(kBystander, SIGCONT);
  Advance();
  ExpectNoMoreThan(0);
}

TEST_F(Disturbed, AJobThatRecoversAndHangsAgainIsTwoIncidents) {
  Start(JobLike(kSeed));
  const Truth first = BreakAndAwaitCollection("bad-chip", kSeed);
  ExpectIncident(first, 0);
  Check(job_->Heal());
  Check(job_->AwaitCoordinatorLog("watching again", kPatience));
  Advance();
  const Truth second = BreakAndAwaitCollection("link-cut", kSeed + 1);
  ExpectIncident(second, 1);
  ExpectNoMoreThan(2);
}

TEST_F(Disturbed, AWorkerThatRestartsAloneIsWhomAllWaitFor) {
  Start(JobLike(kSeed));
  Check(job_->RestartWorker(kBystander, Ending::kKilled));
  const absl::StatusOr<std::string> directory = job_->AwaitIncident(kPatience);
  Check(directory.status());
  const absl::StatusOr<Incident> incident = ReadIncident(*directory);
  Check(incident.status());
  EXPECT_THAT(incident->finding.culprits, ElementsAre(Field(&Named::worker, kBystander)))
      << incident->text;
  Check(job_->RestartJob(Ending::kAsked));
  Check(job_->AwaitCoordinatorLog("watching again", kPatience));
  Advance();
  ExpectNoMoreThan(1);
}

TEST_F(Disturbed, AStateDirectoryThatIsLostSilencesNothing) {
  Start(JobLike(kSeed));
  const std::filesystem::path incidents = std::filesystem::path(state_dir_) / "incidents";
  std::filesystem::remove_all(incidents);
  std::ofstream(incidents) << "in the way";
  const Truth truth = BreakAndAwaitCollection("bad-chip", kSeed);
  Check(job_->AwaitCoordinatorLog("Incident: ", kPatience));
  EXPECT_TRUE(job_->Incidents().empty());
  // The incident is written as soon as the disk allows it.
  std::filesystem::remove(incidents);
  ExpectIncident(truth, 0);
  ExpectNoMoreThan(1);
}

}  // namespace
}  // namespace rapideye::testbed
