#include "agent/core/process_activity.h"

#include "agent/core/limits.h"
#include "gtest/gtest.h"

namespace rapideye::agent {
namespace {

using Signal = wire::ProcessActivitySignal;

constexpr absl::Duration kPoll = absl::Seconds(5);

// A process whose counters grow poll by poll.
struct Worker {
  absl::Duration now = absl::Seconds(100);
  int64_t moved = 0;
  ProcessWork work = {.io_bytes = 0};
  ProcessId id = {.pid = 7, .start_ticks = 1};
  ProcessActivity activity;

  // `wanted_ms`: of the first thread; absent: not shown.
  void Poll(int64_t traffic, int64_t io, int64_t cpu_ms,
            std::optional<int64_t> wanted_ms = std::nullopt) {
    now += kPoll;
    moved += traffic;
    *work.io_bytes += io;
    work.cpu_ms += cpu_ms;
    if (wanted_ms.has_value()) work.wanted_ms = work.wanted_ms.value_or(0) + *wanted_ms;
    ProcessReading reading;
    reading.process.emplace();
    reading.process->id = id;
    reading.process->state = ProcessState::kSleeping;
    reading.work = work;
    activity.Observe(reading, now);
    activity.ObserveTraffic(moved, now);
  }
  void Polls(int count, int64_t traffic, int64_t io, int64_t cpu_ms,
             std::optional<int64_t> wanted_ms = std::nullopt) {
    for (int i = 0; i < count; ++i) Poll(traffic, io, cpu_ms, wanted_ms);
  }
  absl::Duration Still() const { return activity.Now(now)->since_advance; }
};

constexpr int kLearns = static_cast<int>(kActivityWindows) + 1;

TEST(ProcessActivity, IsUnknownUntilARhythmIsLearnt) {
  Worker worker;
  worker.Polls(kLearns - 1, 400'000, 450'000, 300);
  EXPECT_FALSE(worker.activity.Now(worker.now).has_value());
  worker.Poll(400'000, 450'000, 300);
  ASSERT_TRUE(worker.activity.Now(worker.now).has_value());
  EXPECT_EQ(worker.activity.Now(worker.now)->signal, Signal::kTraffic);
  EXPECT_EQ(worker.activity.Now(worker.now)->longest, kPoll);
}

TEST(ProcessActivity, HeartbeatsOfServicesAndALoopThatWaitsAreNoWork) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  const int64_t advances = worker.activity.advances();
  // As measured of a JAX job on Gloo in a hang: a core polls without end.
  worker.Polls(12, 700, 32, 5'000);
  EXPECT_EQ(worker.Still(), 12 * kPoll);
  EXPECT_EQ(worker.activity.advances(), advances);
  worker.Poll(400'000, 450'000, 300);
  EXPECT_EQ(worker.Still(), absl::ZeroDuration());
  EXPECT_GT(worker.activity.advances(), advances);
}

TEST(ProcessActivity, LearnsTheLongestGapOfHealthAndNotThatOfAHang) {
  Worker worker;
  for (int step = 0; step < 20; ++step) {
    worker.Poll(10'000'000, 0, 300);
    worker.Polls(5, 500, 0, 300);
  }
  EXPECT_EQ(worker.activity.Now(worker.now)->longest, 6 * kPoll);
  worker.Polls(100, 500, 0, 300);
  worker.activity.MeasureAnew();
  worker.Poll(10'000'000, 0, 300);
  EXPECT_EQ(worker.activity.Now(worker.now)->longest, 6 * kPoll);
  // The same gap without an incident counts.
  worker.Polls(10, 500, 0, 300);
  worker.Poll(10'000'000, 0, 300);
  EXPECT_EQ(worker.activity.Now(worker.now)->longest, 11 * kPoll);
}

TEST(ProcessActivity, AStartThatReadsFarMoreThanStepsDoDelaysTheRhythmOnly) {
  Worker worker;
  worker.Polls(kLearns, 0, 500'000'000, 5'000);
  // Steps read far less than the start, for two minutes: that is usual from then on.
  worker.Polls(static_cast<int>(kSmallerWindows), 0, 50'000, 300);
  EXPECT_EQ(worker.Still(), absl::ZeroDuration());
  worker.Poll(0, 50'000, 300);
  EXPECT_EQ(worker.Still(), absl::ZeroDuration());
}

TEST(ProcessActivity, ASaveThatMovesFarMoreChangesNothing) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  worker.Poll(40'000'000'000, 40'000'000'000, 5'000);
  worker.Poll(400'000, 450'000, 300);
  EXPECT_EQ(worker.Still(), absl::ZeroDuration());
}

TEST(ProcessActivity, CpuTimeCountsWhereNothingElseHasARhythm) {
  Worker worker;
  worker.Polls(20, 500, 100, 4'000);
  EXPECT_EQ(worker.activity.Now(worker.now)->signal, Signal::kCpuTime);
  worker.Polls(6, 500, 100, 20);
  EXPECT_EQ(worker.Still(), 6 * kPoll);
}

// Counters per rank and five seconds as measured of a JAX job on Gloo; an evaluation in which each
// host computes alone, and one that exchanges a number a second.
TEST(ProcessActivity, AnEvaluationIsWorkThoughNotThatOfSteps) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  const int64_t advances = worker.activity.advances();
  worker.Polls(4, 500, 0, 5'000);
  EXPECT_EQ(worker.Still(), 4 * kPoll);
  EXPECT_EQ(worker.activity.advances(), advances);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  worker.Polls(4, 5'000, 0, 30);
  EXPECT_EQ(worker.Still(), 8 * kPoll);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  worker.Polls(4, 0, 20'000, 30);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
}

// However long it computes, that does not become the usual of steps.
TEST(ProcessActivity, ALongEvaluationIsWorkUntilItsEnd) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  worker.Polls(60, 500, 0, 5'000);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
}

// As measured beside two busy loops on two cores: steps and the evaluation get what is left.
TEST(ProcessActivity, AnEvaluationThatTheMachineLeavesLittleTimeIsWork) {
  Worker worker;
  worker.Polls(20, 550'000, 290'000, 650, 1'600);
  worker.Polls(4, 216, 16, 1'500, 5'000);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  EXPECT_EQ(worker.Still(), 4 * kPoll);
  // In a hang it wants nothing.
  worker.Polls(4, 216, 16, 1'500, 20);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), 4 * kPoll);
}

TEST(ProcessActivity, AFirstThreadThatWaitsInALoopIsNoWork) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 4'000, 4'500);
  worker.Polls(4, 700, 32, 5'000, 5'000);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), 4 * kPoll);
}

// Half of the windows hold an evaluation, whose first one passes for one with steps.
TEST(ProcessActivity, FrequentEvaluationsAreWork) {
  Worker worker;
  for (int i = 0; i < 24; ++i) {
    worker.Polls(1, 550'000, 290'000, 650, 400);
    worker.Polls(4, 216, 16, 1'500, 5'000);
    if (i < 16) continue;  // nothing is known of steps yet
    EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  }
}

TEST(ProcessActivity, WaitingIsNoWorkOfAnyKind) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  worker.Polls(4, 1'500, 32, 30);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), 4 * kPoll);
  // A library that waits in a loop does so in steps, too.
  Worker spins;
  spins.Polls(20, 400'000, 450'000, 4'000);
  spins.Polls(4, 700, 32, 5'000);
  EXPECT_EQ(spins.activity.SinceAnyWork(spins.now), 4 * kPoll);
}

TEST(ProcessActivity, AStartIsWorkBeforeAnyRhythmIsKnown) {
  Worker worker;
  worker.Polls(1, 0, 0, 0);
  EXPECT_FALSE(worker.activity.SinceAnyWork(worker.now).has_value());
  worker.Polls(2, 0, 0, 5'000);  // an import, a compilation
  EXPECT_FALSE(worker.activity.Now(worker.now).has_value());
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  worker.Polls(6, 700, 32, 30);  // it waits for the others
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), 6 * kPoll);
  worker.activity.Observe(ProcessReading(), worker.now);
  EXPECT_FALSE(worker.activity.SinceAnyWork(worker.now).has_value());
}

// A start that reads for as long as a rhythm takes to learn, and then compiles.
TEST(ProcessActivity, AStartThatReadsIsNoMeasureOfSteps) {
  Worker worker;
  worker.Polls(kLearns, 0, 20'000'000, 4'000, 5'000);
  ASSERT_EQ(worker.activity.Now(worker.now)->signal, Signal::kInputOutput);
  worker.Polls(6, 0, 100, 4'000, 5'000);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  // Steps are another measure, by which an evaluation on the host is work.
  worker.Polls(20, 400'000, 450'000, 300, 100);
  worker.Polls(4, 500, 0, 1'000, 5'000);
  EXPECT_EQ(worker.activity.SinceAnyWork(worker.now), absl::ZeroDuration());
  // A process that reads for long and exchanges nothing has steps by its input.
  Worker alone;
  alone.Polls(static_cast<int>(kStartLasts / kPoll) + 1, 0, 20'000'000, 4'000, 5'000);
  alone.Polls(6, 0, 100, 4'000, 5'000);
  EXPECT_EQ(alone.activity.SinceAnyWork(alone.now), 6 * kPoll);
}

TEST(ProcessActivity, AnotherProcessIsLearntAnewAndNoneIsUnknown) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  ++worker.id.pid;
  worker.Poll(400'000, 450'000, 300);
  EXPECT_FALSE(worker.activity.Now(worker.now).has_value());
  worker.Polls(20, 400'000, 450'000, 300);
  ASSERT_TRUE(worker.activity.Now(worker.now).has_value());
  worker.activity.Observe(ProcessReading(), worker.now);
  EXPECT_FALSE(worker.activity.Now(worker.now).has_value());
}

// A standstill that is suspected is looked at four times a second.
TEST(ProcessActivity, AnyWorkIsSeenAtEachFastPoll) {
  constexpr absl::Duration kFast = absl::Milliseconds(250);
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  const auto fast = [&](int64_t traffic) {
    worker.now += kFast;
    worker.moved += traffic;
    worker.activity.ObserveTraffic(worker.moved, worker.now);
  };
  // A number a second.
  for (int i = 0; i < 80; ++i) fast(i % 4 == 0 ? 700 : 0);
  EXPECT_LE(worker.activity.SinceAnyWork(worker.now), 4 * kFast);
  // Services that go on do not count, although the window still holds the work before.
  for (int i = 0; i < 8; ++i) fast(20);
  EXPECT_GE(worker.activity.SinceAnyWork(worker.now), 8 * kFast);
}

TEST(ProcessActivity, FastPollsAreTakenTogether) {
  Worker worker;
  worker.Polls(20, 400'000, 450'000, 300);
  const int64_t advances = worker.activity.advances();
  for (int i = 0; i < 16; ++i) {
    worker.now += absl::Milliseconds(250);
    worker.moved += 20'000;
    worker.activity.ObserveTraffic(worker.moved, worker.now);
  }
  EXPECT_EQ(worker.activity.advances(), advances + 1);
}

}  // namespace
}  // namespace rapideye::agent
