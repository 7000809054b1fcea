#include <gtest/gtest.h>

#include <utility>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

Progress WaitsForInput(int64_t ms) {
  Progress progress;
  progress.phase = Phase::kInput;
  progress.input_wait_ms = ms;
  return progress;
}

TEST(DataStall, IdleWhileItsSliceWaitsInALaunchItNeverGot) {
  Scenario s;
  s.MakeIdle(0, 1);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(DataStall, SeenWaitingForInput) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).progress = WaitsForInput(kStillMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, ItsLogSaysThatItWaitsForInput) {
  constexpr char kLine[] = "Data loading is taking a long time: 60.0 seconds. Waiting for 8 items.";
  Scenario s;
  s.MakeIdle(0, 1);
  s.Log(0, 1, LogKind::kInputWait, kLine, kStillMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
  // The line is of an earlier wait.
  Scenario before;
  before.MakeIdle(0, 1);
  before.Log(0, 1, LogKind::kInputWait, kLine, 10 * kStillMs);
  EXPECT_EQ(Diagnose(before), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(DataStall, WhatItRanLastNeedNotBeKnown) {
  Scenario s;
  s.MakeIdle(0, 1);
  for (int chip = 0; chip < 4; ++chip) {
    s.Tensor(0, 1, chip).program.reset();
    s.Tensor(0, 1, chip).launch_id.reset();
  }
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// One host is idle, and what it ran last is not known. The other has more launches queued.
Scenario OneOfTwoHostsIsIdle(const Spot& other) {
  Scenario s({.slices = 1, .tasks = 2, .chips = 1});
  s.Put(s.Tensor(0, 0, 0), 0, kStep, other);
  s.MakeIdle(0, 1);
  s.Tensor(0, 1, 0).program.reset();
  s.Tensor(0, 1, 0).launch_id.reset();
  return s;
}

TEST(DataStall, AKernelMayWaitForAHostThatHasNotItsLaunches) {
  Scenario s = OneOfTwoHostsIsIdle({2, 0x700, "tpu_custom_call.7"});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  // If nothing is queued behind the kernel, that host may have finished.
  s.Tensor(0, 0, 0).queued.clear();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
  EXPECT_EQ(Diagnose(OneOfTwoHostsIsIdle(kCompute)), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
}

TEST(DataStall, AHostThatFinishedHasWhatIsQueuedNext) {
  Scenario s = OneOfTwoHostsIsIdle(kCollective);
  s.Tensor(0, 1, 0).stuck_ms = kStillMs - 3'000;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  s.Tensor(0, 0, 0).queued.clear();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
}

TEST(DataStall, OfTwoIdleHostsTheOneAtABarrierWaits) {
  Scenario s;
  for (int task : {1, 2}) s.MakeIdle(0, task);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1 0.2");
  s.At(0, 1).stacks = {
      {"MainThread", {"sync_global_devices (jax/experimental/multihost_utils.py:98)"}}};
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST(DataStall, HostsAtABarrierWaitForTheOneThatPassedIt) {
  Scenario s({.slices = 1});
  s.capture.header.trigger = "no-progress";
  for (int task = 0; task < 4; ++task) {
    s.At(0, task).stacks = {
        {"MainThread", {"_value (jax/_src/array.py:545)", "main (train.py:40)"}}};
    if (task != 3) s.MakeIdle(0, task);
  }
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.0 0.1 0.2");
  for (int task = 0; task < 3; ++task) {
    s.At(0, task).stacks[0].frames[0] =
        "sync_global_devices (jax/experimental/multihost_utils.py:98)";
  }
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.3");
  // One core is left in a launch that the others of its host have ended.
  for (int chip = 1; chip < 4; ++chip) {
    Core& core = s.Tensor(0, 3, chip);
    core.queued.clear();
    core.sequencers.front().pc = 0;
  }
  EXPECT_EQ(Diagnose(s).find("PROGRAM_NOT_QUEUED 0.3"), std::string::npos) << Diagnose(s);
}

TEST(DataStall, WhereItsCoresAreUnknownItsHostsWordCounts) {
  Scenario s;
  s.At(0, 1).cores.clear();
  s.At(0, 1).progress = WaitsForInput(kStillMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, WhereItsCoresAreUnknownAShortWaitTellsNothing) {
  Scenario s;
  s.At(0, 1).cores.clear();
  s.At(0, 1).progress = WaitsForInput(kStillMs / 6);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(DataStall, APeerWithAShortWaitIsNoCulprit) {
  Scenario s;
  s.MakeIdle(0, 1);
  s.At(0, 1).progress = WaitsForInput(kStillMs);
  s.At(0, 2).progress = WaitsForInput(900);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, AShortWaitAloneIsNothing) {
  Scenario s;
  s.At(0, 2).progress = WaitsForInput(900);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(DataStall, AtAnInfeed) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep, {1, 0x40, "infeed.1"});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, AtACallbackItsOwnProcessIsWaitedFor) {
  Scenario s;
  Sequencer& sequencer = s.Tensor(0, 1, 2).sequencers.front();
  sequencer.pc = 0x77;
  sequencer.hlo = "fusion.9";  // whatever its name
  sequencer.hlo_waits = HloWaits::kOwnHost;
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  s.At(0, 1).progress = WaitsForInput(kStillMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, AtACallbackByNameItsOwnProcessIsWaitedFor) {
  Scenario s;
  Sequencer& sequencer = s.Tensor(0, 1, 2).sequencers.front();
  sequencer.pc = 0x77;
  sequencer.hlo = "io_callback.18";
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(DataStall, LaunchedButNotBegun) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep, {0, 0, std::nullopt});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, NotBegunWhatNobodyElseIsInIsAVictim) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep + 1, {0, 0, std::nullopt});
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// The host's cores wait for their host, as they have not come to where the others are.
TEST(DataStall, AWholeHostBeforeTheOthersWithoutHlo) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep, {1, 0x40, std::nullopt});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, AWholeHostBeyondTheOthersWithoutHloIsNoMoreThanAnAlternative) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep, {2, 0xc40, std::nullopt});
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "UNKNOWN");
  ASSERT_EQ(verdict.alternatives.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].cause, Cause::kDataInputStall);
  ASSERT_EQ(verdict.alternatives[0].culprits.size(), 1U);
  EXPECT_EQ(verdict.alternatives[0].culprits[0].worker, (WorkerId{0, 1}));
}

TEST(DataStall, AWholeHostElsewhereThatWaitsForInput) {
  Scenario s;
  s.PutHost(0, 1, 0, kStep, {1, 0x40, std::nullopt});
  s.At(0, 1).progress = WaitsForInput(kStillMs);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, OneCoreThereIsAChip) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 0), 0, kStep, {1, 0x40, std::nullopt});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.0");
}

TEST(DataStall, OneOfAnIdleSliceDoesNotSpeakForOtherSlices) {
  Scenario s;
  s.ForgetHlo();
  s.ForgetCohorts();
  for (int task = 0; task < 4; ++task) s.MakeIdle(0, task);
  for (Core& core : s.At(0, 1).cores) core.launch_id.reset();
  s.At(0, 1).progress.emplace().input_wait_ms = kStillMs;
  for (const Culprit& culprit : Classify(s.capture).culprits) EXPECT_EQ(culprit.worker.slice, 0);
}

TEST(DataStall, AllHosts) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.MakeIdle(worker.id.slice, worker.id.task);
    s.At(worker.id.slice, worker.id.task).progress = WaitsForInput(kStillMs);
  }
  EXPECT_EQ(Classify(s.capture).culprits.size(), 8U);
}

TEST(DataStall, AllIdleAndNoReasonSeenIsUnknown) {
  Scenario s;
  for (const ExpectedWorker& worker : s.capture.header.expected_workers) {
    s.MakeIdle(worker.id.slice, worker.id.task);
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(DataStall, AWholeIdleSliceThatOthersAwait) {
  Scenario s;
  for (int task = 0; task < 4; ++task) s.MakeIdle(0, task);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.0 0.1 0.2 0.3");
}

TEST(DataStall, AWholeIdleSliceThatIsAheadIsAVictim) {
  Scenario s;
  for (int task = 0; task < 4; ++task) {
    s.MakeIdle(1, task);
    for (int chip = 0; chip < 4; ++chip) s.Tensor(1, task, chip).launch_id = kApply;
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// Slices of one host each; no order relates the last launch of the idle one to the others' wait.
TEST(DataStall, TheOneIdleSliceThatAllOthersAwait) {
  Scenario s({.slices = 3, .tasks = 1});
  s.PutSlice(0, 0, kStep, kTransfer);
  s.MakeIdle(1, 0);
  for (int chip = 0; chip < 4; ++chip) s.Tensor(1, 0, chip).launch_id.reset();
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 1.0");
  // The idle slice has ended a launch later than the waiting slices: then it has passed.
  Scenario passed = s;
  for (int chip = 0; chip < 4; ++chip) passed.Tensor(1, 0, chip).stuck_ms = kStillMs - 30'000;
  EXPECT_EQ(Diagnose(passed), "UNKNOWN");
  // With two idle slices, either may be the one.
  Scenario two = s;
  two.MakeIdle(2, 0);
  for (int chip = 0; chip < 4; ++chip) two.Tensor(2, 0, chip).launch_id.reset();
  EXPECT_EQ(Diagnose(two), "UNKNOWN");
  // The other slices stand at no known transfer.
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// The others' chips are at a collective of their SparseCores, to which the idle host never came.
TEST(DataStall, ChipsInACollectiveOfTheirSparseCoresAreNoHeads) {
  Scenario s;
  s.MakeIdle(0, 1);
  for (int chip = 0; chip < 4; ++chip) {
    s.Tensor(0, 1, chip).program.reset();
    s.Tensor(0, 1, chip).launch_id.reset();
    s.Put(s.Tensor(0, 3, chip), 0, kStep, {1, 0x3ab, "sparse_lookup.call-done.3"});
  }
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(DataStall, ASpareThatLaunchedNothingIsNoCulprit) {
  Scenario s;
  s.MakeIdle(0, 1);
  std::erase(s.capture.header.cohorts[0].workers, WorkerId{0, 1});
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// Grain's metrics of prefetched elements: `ready` on the mean of a hundred looks.
void Prefetched(Scenario& s, int64_t ready_milli) {
  for (const auto& [name, value] :
       {std::pair("grain_python_dataset_prefetch_buffer_ready_count_sum", 100 * ready_milli),
        std::pair("grain_python_dataset_prefetch_buffer_ready_count_count", int64_t{100'000})}) {
    Metric metric;
    metric.source = MetricSource::kInputPipeline;
    metric.name = name;
    metric.value_milli = value;
    s.At(0, 1).metrics.push_back(metric);
  }
}

TEST(DataStall, AnEmptyPipelineOfAHostThatQueuesNothingIsTheInput) {
  Scenario s;
  s.MakeIdle(0, 1);
  Prefetched(s, 100);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST(DataStall, AFullPipelineSaysNothing) {
  Scenario s;
  s.MakeIdle(0, 1);
  Prefetched(s, 8000);
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

}  // namespace
}  // namespace rapideye::classifier::testing
