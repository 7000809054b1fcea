// A job that restarts is a new incarnation: state that was learnt of the old one, or
// was pending, has no effect. Tried from many states, each from a seed.
#include <gtest/gtest.h>

#include <random>

#include "coordinator/core/coordinator_core.h"
#include "tests/support/fake_job.h"

namespace rapideye::coordinator {
namespace {

constexpr int kTasks = 4;

Options QuickToStart() {
  Options options = Quick();
  options.thresholds.startup_grace = absl::Minutes(2);
  return options;
}

class JobRestart : public ::testing::TestWithParam<int> {
 protected:
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  absl::Duration UpTo(absl::Duration limit) {
    return absl::Milliseconds(static_cast<int64_t>(random_() % 1000)) *
           absl::FDivDuration(limit, absl::Seconds(1));
  }

  // A past for the job: health, perhaps alarms, a hang in any of its stages, agents and
  // coordinators that come and go.
  void LiveThrough(FakeJob& job) {
    job.Run(absl::Seconds(5) + UpTo(absl::Seconds(20)));
    if (Chance(50)) job.Freeze();
    if (Chance(30)) job.at(0, 1).answers = false;
    job.Run(UpTo(absl::Seconds(12)), absl::Milliseconds(500));
    if (Chance(40)) {
      job.Say(job.at(0, 0), wire::Alarm{wire::AlarmKind::kHangLine, "of the old incarnation"});
    }
    job.Run(UpTo(absl::Seconds(2)), absl::Milliseconds(250));
    if (!job.concluded().empty() && Chance(60)) job.Concluded();
    if (Chance(30)) job.Disconnect(job.at(0, 2));
    if (Chance(30)) {
      job.RestartCoordinator();
      if (Chance(50)) job.ConnectAll();
    }
    job.Run(UpTo(absl::Seconds(2)), absl::Milliseconds(250));
  }

  // Replaces all processes. Agents notice that with their next poll.
  static void RestartJob(FakeJob& job) {
    for (auto& [id, agent] : job.agents()) {
      agent.process = "p2";
      agent.completed = 0;
      agent.last_completion.reset();
      agent.programs = {"bb"};
      agent.in_flight = true;
      agent.answers = true;
      if (agent.stream != 0) continue;
      job.Connect(agent);
    }
    for (auto& [id, agent] : job.agents()) {
      if (agent.stream != 0) job.Heartbeat(agent);
      agent.memory.reset();
    }
  }

  std::mt19937 random_{static_cast<unsigned>(GetParam())};
};

TEST_P(JobRestart, NothingOfTheOldIncarnationDrivesAnything) {
  FakeJob job(QuickToStart(), 1, kTasks);
  LiveThrough(job);
  job.Freeze();
  RestartJob(job);
  const size_t before = job.concluded().size();
  const int64_t suspicions = job.core().counters().suspicions;

  // The new job starts: longer than any threshold of the old one, within the grace.
  job.Run(absl::Minutes(1));
  EXPECT_EQ(job.concluded().size(), before);
  EXPECT_EQ(job.core().counters().suspicions, suspicions);

  // An answer to a Conclude of the old incarnation may come late.
  if (before > 0) job.Concluded();
  job.Thaw();
  job.Run(absl::Minutes(2));
  EXPECT_EQ(job.concluded().size(), before);

  // The new incarnation's hang gets one digest, which holds nothing of the past.
  job.Freeze();
  ASSERT_TRUE(job.RunUntilConclude(absl::Seconds(15)));
  const Capture& capture = job.concluded().back().capture;
  for (const Snapshot& snapshot : capture.snapshots) EXPECT_EQ(snapshot.incarnation, "p2");
  for (const Cohort& cohort : capture.header.cohorts) {
    for (const SequenceEntry& entry : cohort.sequence) EXPECT_EQ(entry.fingerprint, "bb");
  }
  job.Concluded();
  job.Run(absl::Minutes(5));
  EXPECT_EQ(job.concluded().size(), before + 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, JobRestart, ::testing::Range(0, 200));

}  // namespace
}  // namespace rapideye::coordinator
