// Faults of the network itself: each host has NICs of its own, and what breaks is a
// link, a switch or a host.
#include <gmock/gmock.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/e2e/fixture.h"
#include "tests/testbed/launcher/host_networks.h"
#include "tests/testbed/launcher/processes.h"
#include "tests/testbed/model/control.h"

namespace rapideye::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

const WorkerId kVictim{1, 0};
const WorkerId kNeighbour{0, 0};
constexpr int kSeed = 2;

Named NameOf(WorkerId worker) { return {worker, HostName(worker), std::nullopt}; }

class OwnNetworks : public RunningJobTest {
 protected:
  void SetUp() override {
    RunningJobTest::SetUp();
    const absl::Status possible = HostNetworks::Check();
    if (!possible.ok()) GTEST_SKIP() << possible.message();
    JobOptions options = JobLike(kSeed);
    options.shape = {3, 2, 2, *FindGeneration("v6e")};
    options.own_networks = true;
    Start(std::move(options));
    // Time enough to know the connections of health.
    Check(job_->Watch(absl::Seconds(3)));
    // No probe is sent in health.
    for (WorkerId worker : AllWorkers(job_->options().shape)) {
      EXPECT_FALSE(absl::StrContains(LogOf(AgentOf(worker)), "probing other workers"));
    }
  }

  static std::string AgentOf(WorkerId worker) {
    return absl::StrCat("agent-", worker.slice, "-", worker.task);
  }
  std::string LogOf(const std::string& process) const {
    std::ifstream file(LogPath(job_->options(), process));
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }

  // The verdict, live and from the capture, and what was sent for it.
  Incident Expect(const Truth& truth) {
    Incident incident = ExpectIncident(truth, 0);
    const absl::StatusOr<Finding> offline = Diagnose(incident.capture_path);
    if (offline.ok()) {
      EXPECT_EQ(offline->cause, incident.finding.cause);
      EXPECT_EQ(offline->culprits, incident.finding.culprits);
    } else {
      ADD_FAILURE() << offline.status();
    }
    std::istringstream log(LogOf("coordinator"));
    for (std::string line; std::getline(log, line);) {
      if (absl::StrContains(line, "workers were asked for")) std::cout << line << "\n";
    }
    std::cout << "collected in " << incident.finding.collect << "\n";
    return incident;
  }
};

TEST_F(OwnNetworks, ANicThatIsDownIsNamedWithItsHost) {
  Check(job_->networks().TakeDown(kVictim, CrossSliceNic(kVictim)));
  const Incident incident =
      Expect({"NETWORKING_ISSUE", "DCN_HOST", {NameOf(kVictim)}, false, true});
  EXPECT_THAT(incident.finding.nics, ElementsAre(CrossSliceNic(kVictim)));
}

TEST_F(OwnNetworks, ACutBetweenTwoHostsNamesBoth) {
  Check(job_->networks().CutPair(kVictim, kNeighbour, CrossSliceNic(kVictim)));
  Expect({"NETWORKING_ISSUE", "DCN_LINK", {NameOf(kNeighbour), NameOf(kVictim)}, false});
}

TEST_F(OwnNetworks, AHostThatIsCutOffIsLost) {
  Check(job_->networks().TakeDownAll(kVictim));
  const Incident incident =
      Expect({"UNRECOVERABLE_ERROR", "WORKER_LOST", {NameOf(kVictim)}, false});
  EXPECT_THAT(incident.finding.missing, ElementsAre(Field(&Named::worker, kVictim)));
}

TEST_F(OwnNetworks, AHostWhoseAgentDiedIsMissingNotLost) {
  Check(job_->EndAgent(kVictim, Ending::kKilled));
  // A fault elsewhere.
  int seed = kSeed;
  const auto truth_of = [&](int with) {
    return FindScenario("bad-chip")
        ->plan({.shape = job_->options().shape, .seed = static_cast<uint64_t>(with)})
        .truth;
  };
  while (truth_of(seed).culprits.front().worker == kVictim) ++seed;
  const Incident incident = Expect(BreakAndAwaitCollection("bad-chip", seed));
  EXPECT_THAT(incident.finding.missing, ElementsAre(Field(&Named::worker, kVictim)));
  EXPECT_THAT(LogOf("coordinator"), HasSubstr("workers were asked for"));
}

TEST_F(OwnNetworks, ABlackHoleForLargePacketsIsAFaultOfTheNetwork) {
  constexpr int kMtu = 400;  // below what the job sends at a time
  Check(job_->networks().LoseLargePackets(kVictim, CrossSliceNic(kVictim), kMtu));
  const Incident incident =
      Expect({"NETWORKING_ISSUE", "DCN_HOST", {NameOf(kVictim)}, false, true});
  EXPECT_THAT(incident.finding.nics, ElementsAre(CrossSliceNic(kVictim)));
}

}  // namespace
}  // namespace rapideye::testbed
