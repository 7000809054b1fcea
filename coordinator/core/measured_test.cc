// One worker among honest ones lies about its progress by another kind of evidence than theirs.
#include "coordinator/core/measured.h"

#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr int64_t kAgent = 7;
constexpr int kHonest = 4;             // tasks 0 to 3
constexpr WorkerId kLiar{0, kHonest};  // or a worker that runs a program of its own

class OneLiesTest : public ::testing::Test {
 protected:
  static wire::Heartbeat OfProcess(RuntimeState runtime) {
    wire::Heartbeat heartbeat;
    heartbeat.process_incarnation = "p";
    heartbeat.runtime.state = runtime;
    return heartbeat;
  }
  void Hear(const WorkerId& worker, const wire::Heartbeat& heartbeat, int second) {
    progress_.Observe(worker, kAgent, heartbeat, absl::Seconds(second));
    if (const auto took = progress_.Find(worker)->step_took) learning_.ObserveStep(worker, *took);
    learning_.Observe(worker, heartbeat, true);
  }
  // A launch that completes now, and the next one in flight.
  static wire::Heartbeat Launches(int64_t completed) {
    wire::Heartbeat heartbeat = OfProcess(RuntimeState::kServing);
    heartbeat.launches_completed = completed;
    heartbeat.since_completion = absl::ZeroDuration();
    heartbeat.launch_in_flight = true;
    heartbeat.queue.push_back({"aa", 1});
    heartbeat.programs.push_back({std::nullopt, "aa", completed, absl::Seconds(1)});
    return heartbeat;
  }
  static wire::Heartbeat Page(int64_t step) {
    wire::Heartbeat heartbeat = OfProcess(RuntimeState::kUnavailable);
    heartbeat.progress = rapideye::Progress{.step = step, .phase = Phase::kStep, .phase_ms = 0};
    return heartbeat;
  }
  static wire::Heartbeat Lines(int64_t step, absl::Duration since) {
    wire::Heartbeat heartbeat = OfProcess(RuntimeState::kUnavailable);
    heartbeat.step_lines = wire::StepLines{
        .step = step, .advances = step, .since_advance = since, .longest = absl::Seconds(10)};
    return heartbeat;
  }
  std::optional<Standstill> Judge(int second) const {
    return progress_.Judge(thresholds_, learning_, absl::Seconds(second));
  }

  Thresholds thresholds_;
  Learning learning_;
  Progress progress_;
};

TEST_F(OneLiesTest, ARuntimeOfOneDoesNotReplaceThePagesOfTheOthers) {
  for (int second = 0; second <= 400; ++second) {
    for (int task = 0; task < kHonest; ++task) Hear({0, task}, Page(std::min(second, 100)), second);
    Hear(kLiar, Launches(second + 1), second);
  }
  const std::optional<Standstill> found = Judge(400);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->most_stand);
  // Of two, nobody knows which is right: then launches count, and the job advances.
  for (int task = 1; task < kHonest; ++task) progress_.Disconnected({0, task});
  EXPECT_FALSE(Judge(400).has_value());
}

TEST_F(OneLiesTest, AJobThatAdvancesByPagesIsNotAccusedForOneThatStands) {
  for (int second = 0; second <= 9000; second += 10) {
    for (int task = 0; task < kHonest; ++task) Hear({0, task}, Page(second), second);
    wire::Heartbeat stands = Launches(1);
    stands.since_completion = absl::Seconds(second);
    Hear(kLiar, stands, second);
  }
  EXPECT_FALSE(Judge(9000).has_value());
}

TEST_F(OneLiesTest, LinesOfOneDoNotExcuseTheLinesOfTheOthersForEver) {
  const int bound = 100 + static_cast<int>(2 * thresholds_.longest_pause / absl::Seconds(1));
  for (int second = 0; second <= bound; second += 10) {
    for (int task = 0; task < kHonest; ++task) {
      Hear({0, task}, Lines(std::min(second, 100), absl::Seconds(std::max(second - 100, 0))),
           second);
    }
    Hear(kLiar, Lines(second, absl::ZeroDuration()), second);
  }
  EXPECT_FALSE(Judge(bound - 1).has_value());
  EXPECT_TRUE(Judge(bound).has_value());
}

// Where the log of one worker alone tells steps, the work of the others is the other evidence.
TEST_F(OneLiesTest, LinesOfOneDoNotExcuseOthersThatDoNoWorkForEver) {
  for (const bool work : {true, false}) {
    Progress progress;
    for (int second = 0; second <= 5000; second += 10) {
      for (int task = 0; task < kHonest; ++task) {
        const int worked = work ? second : std::min(second, 100);
        wire::Heartbeat heartbeat = OfProcess(RuntimeState::kUnavailable);
        heartbeat.activity = wire::ProcessActivity{.signal = wire::ProcessActivitySignal::kTraffic,
                                                   .advances = worked,
                                                   .since_advance = absl::Seconds(second - worked),
                                                   .longest = absl::Seconds(5)};
        progress.Observe({0, task}, kAgent, heartbeat, absl::Seconds(second));
      }
      progress.Observe(kLiar, kAgent, Lines(second, absl::ZeroDuration()), absl::Seconds(second));
    }
    EXPECT_EQ(progress.Judge(thresholds_, learning_, absl::Seconds(5000)).has_value(), !work);
  }
}

TEST_F(OneLiesTest, LaunchesThatOnlyBeginDoNotExcuseTheIdleForEver) {
  for (int second = 0; second <= 5000; ++second) {
    for (int task = 0; task < kHonest; ++task) {
      wire::Heartbeat heartbeat = Launches(std::min(second, 100) + 1);
      heartbeat.since_completion = absl::Seconds(std::max(second - 100, 0));
      heartbeat.launch_in_flight = second < 100;
      if (second >= 100) heartbeat.queue.clear();
      Hear({0, task}, heartbeat, second);
    }
    wire::Heartbeat begins = Launches(1);
    begins.since_completion = absl::Seconds(second);
    begins.launch_in_flight = second % 2 == 0;
    Hear(kLiar, begins, second);
  }
  EXPECT_TRUE(Judge(5000).has_value());
}

TEST_F(OneLiesTest, AStartUpThatHangsIsNotExcusedByOneThatAdvances) {
  for (int second = 0; second <= 5000; ++second) {
    for (int task = 0; task < kHonest; ++task) {
      wire::Heartbeat heartbeat = OfProcess(RuntimeState::kServing);
      heartbeat.launch_in_flight = true;
      heartbeat.queue.push_back({"first", 1});
      Hear({0, task}, heartbeat, second);
    }
    Hear(kLiar, Launches(second + 1), second);
  }
  EXPECT_TRUE(Judge(5000).has_value());
  // Workers that have begun nothing may be in reserve.
  for (int task = 0; task < kHonest; ++task) {
    Hear({0, task}, OfProcess(RuntimeState::kServing), 5000);
  }
  EXPECT_FALSE(Judge(5000).has_value());
}

}  // namespace
}  // namespace rapideye::coordinator
