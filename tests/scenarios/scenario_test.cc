#include "tests/scenarios/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "tests/scenarios/dynamics.h"
#include "tests/scenarios/kinds/build.h"
#include "tests/scenarios/mix.h"

namespace rapideye::scenarios {
namespace {

constexpr uint64_t kSeeds = 6;

std::string Bytes(const Scenario& scenario) {
  auto bytes = wire::WriteCapture(scenario.capture, {});
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : std::string();
}

Options WithNoise(const Noise& noise, bool aborted) {
  return {.noise = noise, .transfers = true, .ici_links = true, .aborted = aborted};
}

class EveryKind : public testing::TestWithParam<Kind> {
 protected:
  template <typename Check>
  void ForSeeds(Check check) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      for (const bool aborted : {false, true}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << (aborted ? " aborted" : ""));
        check(Generate(GetParam(), seed, WithNoise(Noisy(), aborted)));
      }
    }
  }
};

class EveryHealthyKind : public EveryKind {};
class EveryBrokenKind : public EveryKind {};
class EverySilentKind : public EveryKind {};
class EveryTellingKind : public EveryKind {};

// Readers must take each capture: proto/wire holds the one rule for what may be in a capture.
TEST_P(EveryKind, IsACaptureThatReadersTake) {
  ForSeeds([](const Scenario& scenario) {
    std::istringstream file(Bytes(scenario));
    const auto read = wire::ReadCapture(file);
    ASSERT_TRUE(read.ok()) << read.status();
    // A file holds the snapshots by worker.
    Capture written = scenario.capture;
    std::sort(written.snapshots.begin(), written.snapshots.end(),
              [](const Snapshot& a, const Snapshot& b) { return a.worker < b.worker; });
    EXPECT_TRUE(*read == written) << "written and read again, it is another";
  });
}

TEST_P(EveryKind, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const Options options = WithNoise(Noisy(), false);
  EXPECT_EQ(Bytes(Generate(GetParam(), 5, options)), Bytes(Generate(GetParam(), 5, options)));
  EXPECT_NE(Bytes(Generate(GetParam(), 5, options)), Bytes(Generate(GetParam(), 6, options)));
}

TEST_P(EveryKind, BlamesOnlyExpectedWorkersAndTheirChips) {
  ForSeeds([](const Scenario& scenario) {
    std::set<WorkerId> expected;
    for (const ExpectedWorker& worker : scenario.capture.header.expected_workers) {
      expected.insert(worker.id);
    }
    ASSERT_FALSE(scenario.truth.accepted.empty());
    for (const Answer& answer : scenario.truth.accepted) {
      for (const TrueCulprit& culprit : answer.culprits) {
        EXPECT_TRUE(expected.contains(culprit.worker));
        EXPECT_LT(culprit.chip.value_or(0), 4);
      }
    }
  });
}

// The fault must have been reached and must have stopped everyone, rather than the
// end of the simulation.
TEST_P(EveryBrokenKind, StandsStillBecauseOfTheFault) {
  for (uint64_t seed = 0; seed < 8 * kSeeds; ++seed) {
    Random random(seed);
    const Plan plan = BuildPlan(GetParam(), random);
    const World world(plan.job, plan.faults, plan.launches_to_run());
    for (int device = 0; device < plan.job.layout.devices(); ++device) {
      const Arrival at = world.At(device, kNever);
      EXPECT_LT(at.launch, world.launches() - 1) << "seed " << seed << " device " << device;
    }
    // The second of two faults may keep the first from being reached: then it is
    // not among the answers.
    if (plan.faults.stuck.empty() || GetParam() == Kind::kTwoFaults) continue;
    const StuckDevice& stuck = plan.faults.stuck.front();
    const Arrival at = world.At(stuck.device, kNever);
    EXPECT_EQ(at.launch, stuck.launch) << "seed " << seed;
    EXPECT_EQ(at.op, stuck.op) << "seed " << seed;
  }
}

TEST_P(EveryHealthyKind, AnyHangThatIsDeclaredIsAFalseAlarm) {
  Verdict hang;
  hang.cause = Cause::kBadTpuChip;
  Verdict none;
  none.cause = Cause::kNoHang;
  ForSeeds([&](const Scenario& scenario) {
    EXPECT_TRUE(GradeVerdict(scenario.truth, hang).false_alarm);
    const Grade grade = GradeVerdict(scenario.truth, none);
    EXPECT_TRUE(grade.cause) << grade.reason;
    EXPECT_FALSE(grade.false_alarm);
  });
}

TEST_P(EveryTellingKind, IsMostlyDecidableWithoutNoise) {
  int undecidable = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    undecidable += Generate(GetParam(), seed, {.noise = NoiseFree()}).truth.decidable ? 0 : 1;
  }
  EXPECT_LE(undecidable, 1);
}

// A kind that is always decidable is not silent: the test above must hold for it.
TEST_P(EverySilentKind, IsAtTimesUndecidableEvenWithoutNoise) {
  int undecidable = 0;
  for (uint64_t seed = 0; seed < 8 * kSeeds; ++seed) {
    undecidable += Generate(GetParam(), seed, {.noise = NoiseFree()}).truth.decidable ? 0 : 1;
  }
  EXPECT_GT(undecidable, 1);
}

// Kinds that are undecidable in a part of their scenarios, as no evidence tells the cause.
bool IsAtTimesSilent(Kind kind) { return kind == Kind::kIciLink || kind == Kind::kUnknownCause; }

std::vector<Kind> KindsWhere(bool (*holds)(Kind), bool value) {
  std::vector<Kind> kinds;
  for (const Kind kind : AllKinds()) {
    if (holds(kind) == value) kinds.push_back(kind);
  }
  return kinds;
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) {
  std::string name(KindName(kind.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, EveryKind, testing::ValuesIn(AllKinds()), NameOf);
INSTANTIATE_TEST_SUITE_P(Scenarios, EveryHealthyKind,
                         testing::ValuesIn(KindsWhere(IsHealthyKind, true)), NameOf);
INSTANTIATE_TEST_SUITE_P(Scenarios, EveryBrokenKind,
                         testing::ValuesIn(KindsWhere(IsHealthyKind, false)), NameOf);
INSTANTIATE_TEST_SUITE_P(Scenarios, EverySilentKind,
                         testing::ValuesIn(KindsWhere(IsAtTimesSilent, true)), NameOf);
INSTANTIATE_TEST_SUITE_P(Scenarios, EveryTellingKind,
                         testing::ValuesIn(KindsWhere(IsAtTimesSilent, false)), NameOf);

TEST(Kinds, AreFoundByTheirNames) {
  for (const Kind kind : AllKinds()) EXPECT_EQ(KindByName(KindName(kind)), kind);
  EXPECT_EQ(KindByName("no-such-kind"), std::nullopt);
}

TEST(Mix, DrawsEveryKindOfItAndNoOther) {
  for (const std::vector<Share>& mix : {FlatMix(), RealisticMix()}) {
    std::set<Kind> in_mix;
    for (const Share& share : mix) in_mix.insert(share.kind);
    std::set<Kind> drawn;
    for (uint64_t seed = 0; seed < 6000; ++seed) drawn.insert(DrawFrom(mix, seed).kind);
    EXPECT_EQ(drawn, in_mix);
  }
}

// Features that the corpus promises to vary are there or absent, each in a fair part of it.
TEST(Scenarios, VaryInWhatTheyPromise) {
  int spare = 0;
  int repeated = 0;
  int learnt = 0;
  int unlearnt = 0;
  int gone_in_part = 0;
  constexpr int kCount = 300;
  for (uint64_t seed = 0; seed < kCount; ++seed) {
    const Scenario scenario =
        Generate(Kind::kChipCompute, seed, {.noise = Noisy(), .aborted = seed % 2 == 0});
    const Capture& capture = scenario.capture;
    size_t listed = 0;
    bool again = false;
    for (const Cohort& cohort : capture.header.cohorts) {
      listed += cohort.workers.size();
      std::set<std::string> programs;
      for (const SequenceEntry& entry : cohort.sequence) {
        again = !programs.insert(entry.fingerprint).second || again;
      }
    }
    repeated += again ? 1 : 0;
    const bool known = !capture.header.cohorts.empty();
    spare += known && listed < capture.header.expected_workers.size() ? 1 : 0;
    ++(known && !capture.header.cohorts.front().sequence.empty() ? learnt : unlearnt);
    const auto gone = std::count_if(capture.snapshots.begin(), capture.snapshots.end(),
                                    [](const Snapshot& snapshot) {
                                      return snapshot.runtime.state == RuntimeState::kUnavailable;
                                    });
    gone_in_part += gone > 0 && gone + 2 < static_cast<int>(capture.snapshots.size()) ? 1 : 0;
  }
  for (const int count : {spare, repeated, learnt, unlearnt, gone_in_part}) {
    EXPECT_GE(count, kCount / 30);
    EXPECT_LE(count, kCount * 9 / 10);
  }
}

TEST(Scenarios, NobodyBlamesASpareSlice) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Scenario scenario = Generate(Kind::kInputAllHosts, seed, {.noise = NoiseFree()});
    std::set<WorkerId> launched;
    for (const Cohort& cohort : scenario.capture.header.cohorts) {
      launched.insert(cohort.workers.begin(), cohort.workers.end());
    }
    for (const Answer& answer : scenario.truth.accepted) {
      for (const TrueCulprit& culprit : answer.culprits) {
        EXPECT_TRUE(launched.contains(culprit.worker)) << "seed " << seed;
      }
    }
  }
}

TEST(Scenarios, RunsOfARepeatedProgramCountOn) {
  Job job;
  job.programs.resize(2);
  job.steps = {{0, 0, 1}};
  job.first_step = 10;
  EXPECT_EQ(job.RunOf(0, 0), 20);
  EXPECT_EQ(job.RunOf(0, 1), 21);
  EXPECT_EQ(job.RunOf(0, 2), 10);
  EXPECT_EQ(job.RunOf(0, 3), 22);
  EXPECT_EQ(job.RunAt(0, 9, 1), 19);
}

TEST(Mix, HealthyIsWhatIsWell) {
  for (const Share& share : HealthyMix()) EXPECT_TRUE(IsHealthyKind(share.kind));
  EXPECT_EQ(HealthyMix().size(), 4U);
}

TEST(Mix, RealisticSharesAddUpToAHundredPercent) {
  double total = 0;
  for (const Share& share : RealisticMix()) total += share.weight;
  EXPECT_NEAR(total, 100, 1e-9);
}

// In the launch in which a core stands, all others of its slice that came as far
// wait at the next collective.
TEST(Dynamics, ASliceWaitsForItsStuckCore) {
  Random random(11);
  Job job = MakeJob({.layout = {.max_slices = 1}, .max_programs = 1}, random);
  const Program& program = job.programs[0];
  const int collective = LastCollective(program);
  const int stuck_at = PickCompute(program, false, random);
  const World world(job, {.stuck = {{.device = 3, .launch = 2, .op = stuck_at}}}, job.horizon());
  EXPECT_FALSE(world.completed());
  EXPECT_EQ(world.At(3, kNever).op, stuck_at);
  for (const int device : {0, 1, 2, 4, 5}) {
    const Arrival at = world.At(device, kNever);
    EXPECT_EQ(at.launch, 2);
    EXPECT_GT(at.op, stuck_at);
    EXPECT_LE(at.op, collective);
  }
}

TEST(Dynamics, AJobWithoutFaultsCompletes) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Job job = MakeJob({.layout = {.min_slices = 2}, .pipeline = seed % 3 == 0}, random);
    EXPECT_TRUE(World(job, {}, job.horizon()).completed()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rapideye::scenarios
