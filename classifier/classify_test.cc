// The verdict as a whole: totality, bounds, reasons, alternatives.
#include "classifier/classify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

TEST(Classify, AnEmptyCaptureIsUnknown) {
  const Verdict verdict = Classify(Capture());
  EXPECT_EQ(Summary(verdict), "UNKNOWN");
  EXPECT_FALSE(verdict.lacking.empty());
  EXPECT_FALSE(verdict.actions.empty());
  EXPECT_FALSE(verdict.removal.reason.empty());
}

TEST(Classify, NobodyReported) {
  Scenario s;
  s.capture.snapshots.clear();
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "UNKNOWN");
  EXPECT_EQ(verdict.missing.size(), 8U);
}

TEST(Classify, SnapshotsWithoutAnything) {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    const WorkerId worker = snapshot.worker;
    snapshot = Snapshot();
    snapshot.worker = worker;
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Classify, CoresOfWhichNothingWasReported) {
  Scenario s;
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) {
      core = Core();
      core.type = CoreType::kTensorCore;
    }
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Classify, UnknownNamesWhatWasLacking) {
  Scenario s;
  s.Remove(1, 2);
  s.ForgetHlo();
  const Verdict verdict = Classify(s.capture);
  ASSERT_EQ(Summary(verdict), "UNKNOWN");
  std::string all;
  for (const std::string& lacking : verdict.lacking) all += lacking;
  EXPECT_NE(all.find("missing worker"), std::string::npos);
  EXPECT_NE(all.find("HLO"), std::string::npos);
  EXPECT_NE(all.find("probes"), std::string::npos);
}

TEST(Classify, SaysWhyInWordsAnOperatorCanUse) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const Verdict verdict = Classify(s.capture);
  ASSERT_FALSE(verdict.evidence.empty());
  EXPECT_EQ(verdict.evidence[0].statement,
            "chip 2 TensorCore 0 of slice 0 task 1 (host-0-1) has stood still for 65 s at "
            "fusion.12 (tag 2, pc 0x700) of jit_step, while 15 cores of slice 0 wait at "
            "all-reduce.3 (tag 2, pc 0x900) of jit_step; behind them 16 more cores stand");
  EXPECT_EQ(verdict.evidence[0].workers, (std::vector<WorkerId>{{0, 1}}));
  EXPECT_FALSE(verdict.reasons.empty());
  ASSERT_FALSE(verdict.actions.empty());
  EXPECT_NE(verdict.actions[0].description.find("host-0-1"), std::string::npos);
}

TEST(Classify, AnotherIndependentFaultIsAnAlternative) {
  Scenario s({.slices = 3});
  s.PutSlice(2, 0, kStep, kCollective);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.MakeIdle(2, 3);
  Progress progress;
  progress.phase = Phase::kInput;
  progress.input_wait_ms = kStillMs;
  s.At(2, 3).progress = progress;
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict).substr(0, 4), "DATA");
  ASSERT_EQ(verdict.alternatives.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].cause, Cause::kBadTpuChip);
  ASSERT_EQ(verdict.alternatives[0].culprits.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].culprits[0].chip, 2);
  EXPECT_TRUE(verdict.alternatives[0].independent);
  // A core that has computed for seconds may go on.
  Core& core = s.Tensor(0, 1, 2);
  core.stuck_ms = 3000;
  core.sequencers[0].frozen_ms = 3000;
  for (const Alternative& other : Classify(s.capture).alternatives) {
    EXPECT_FALSE(other.independent);
  }
}

TEST(Classify, ACoreThatStandsElsewhereForNoKnownReasonIsNoSecondFault) {
  Scenario s;
  s.At(1, 1).processes[0].state = ProcessState::kStopped;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const Verdict computes = Classify(s.capture);
  EXPECT_EQ(computes.cause, Cause::kBadTpuChip);
  ASSERT_EQ(computes.alternatives.size(), 1U);
  EXPECT_EQ(computes.alternatives[0].detail, Detail::kProcessStopped);
  EXPECT_TRUE(computes.alternatives[0].independent);
  EXPECT_NE(computes.actions.back().description.find("the other fault"), std::string::npos);
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) {
      for (Sequencer& sequencer : core.sequencers) sequencer.hlo.reset();
    }
  }
  const Verdict unknown = Classify(s.capture);
  EXPECT_EQ(unknown.detail, Detail::kProcessStopped);
  for (const Alternative& other : unknown.alternatives) EXPECT_FALSE(other.independent);
}

TEST(Classify, QuotesOfWorkersAreBounded) {
  Scenario s;
  const std::string endless(1'000'000, 'x');
  s.At(0, 1).host = endless;
  s.At(0, 1).programs[0].module = endless;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, {2, 0x700, "fusion." + endless});
  s.Log(0, 1, LogKind::kCoreHalt, endless, kStillMs, 2);
  const Verdict verdict = Classify(s.capture);
  for (const EvidenceItem& item : verdict.evidence) EXPECT_LT(item.statement.size(), 2000U);
  for (const RecommendedAction& action : verdict.actions) {
    EXPECT_LT(action.description.size(), 3000U);
  }
}

TEST(Classify, AVictimTakenAwayMakesNoOtherVictimTheCulprit) {
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 4; ++task) {
      if (slice == 0 && task == 1) continue;
      Scenario s;
      s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
      s.Remove(slice, task);
      EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
    }
  }
}

TEST(Classify, MoreOfTheHealthyPartChangesNothing) {
  for (const int tasks : {4, 8, 32}) {
    Scenario s({.slices = 4, .tasks = tasks});
    s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
    EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  }
}

// Certainties before calibration look like the same figure, told twice.
TEST(Classify, StepsStateTheConfidenceOfTheVerdictAndNoOther) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const Verdict verdict = Classify(s.capture);
  ASSERT_EQ(verdict.cause, Cause::kBadTpuChip);
  const auto said = [&](const std::string& part) {
    return std::any_of(verdict.reasons.begin(), verdict.reasons.end(), [&](const Reason& reason) {
      return reason.text.find(part) != std::string::npos;
    });
  };
  EXPECT_TRUE(said(absl::StrFormat("surest (confidence %.2f)", verdict.confidence.value())));
  EXPECT_FALSE(said("stated as"));
}

}  // namespace
}  // namespace rapideye::classifier::testing
