#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using ::testing::HasSubstr;

TEST(BadChip, ManyAtOneNamelessPlaceAreNoBadChips) {
  Scenario s({.slices = 1, .tasks = 8, .chips = 4});
  const Spot nameless{2, 0x318, "fusion.318"};
  for (int i = 0; i < 15; ++i) s.Put(s.Tensor(0, i % 8, i / 8), 0, kStep, nameless);
  const Spot elsewhere{2, 0x77, "fusion.12"};
  s.Put(s.Tensor(0, 5, 3), 0, kStep, elsewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.5.3");
  // Even if no name distinguishes the laggard, the fifteen others are not accused.
  s.Tensor(0, 5, 3).sequencers.front().hlo = "all-gather.2";
  EXPECT_EQ(Diagnose(s).find("0.1.1"), std::string::npos) << Diagnose(s);
}

TEST(BadChip, TheTextOfTheProgramSaysWhoWaits) {
  Scenario s;
  for (int task = 0; task < 2; ++task) {
    // A reduce-scatter is called fusion.318: by its name it computes.
    Sequencer& sequencer = s.Tensor(0, task, 0).sequencers.front();
    sequencer.pc = 0x318;
    sequencer.hlo = "fusion.318";
    sequencer.hlo_waits = HloWaits::kInSlice;
  }
  Sequencer& odd = s.Tensor(0, 1, 2).sequencers.front();
  odd.pc = 0x77;
  odd.hlo = "my_flash_kernel.1";
  odd.hlo_waits = HloWaits::kKernel;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, ACoreInComputeThatItsSliceWaitsFor) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, NobodyElsewhereIsNobodyBad) { EXPECT_EQ(Diagnose(Scenario()), "UNKNOWN"); }

TEST(BadChip, PlaceAloneTellsWithoutHlo) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

// Tensor mates, one chip of every host: three of them wait for the fourth, and all other cores
// stand further on and wait for the mates.
Scenario StuckWithMates(const Spot& stuck, const Spot& mates) {
  Scenario s;
  for (int task = 0; task < 4; ++task) s.Put(s.Tensor(0, task, 3), 0, kStep, mates);
  s.Put(s.Tensor(0, 2, 3), 0, kStep, stuck);
  return s;
}

TEST(BadChip, TheMatesOfAStuckCoreAreNotAccused) {
  const Spot gather{2, 0x800, "all-gather.9"};
  EXPECT_EQ(Diagnose(StuckWithMates(kCompute, gather)), "BAD_TPU_CHIP/TENSOR_CORE 0.2.3");
  const Spot kernel{2, 0x700, "tpu_custom_call.7"};
  EXPECT_EQ(Diagnose(StuckWithMates(kernel, gather)), "BAD_TPU_CHIP/TENSOR_CORE 0.2.3");
  Scenario nameless = StuckWithMates(kCompute, gather);
  nameless.ForgetHlo();
  EXPECT_EQ(Diagnose(nameless), "BAD_TPU_CHIP/TENSOR_CORE 0.2.3");
}

TEST(BadChip, TwoInOneKernelMayWaitForEachOtherThere) {
  const Spot kernel{2, 0x700, "tpu_custom_call.7"};
  Scenario s;
  s.Put(s.Tensor(0, 0, 0), 0, kStep, kernel);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
  s.Put(s.Tensor(0, 1, 0), 0, kStep, kernel);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// Each of the two queues what the other is in: neither launch is the earlier one.
TEST(BadChip, NobodyLagsWhereQueuesContradictEachOther) {
  Scenario s({.slices = 1, .tasks = 2, .chips = 1});
  s.Put(s.Tensor(0, 0, 0), 1, kApply, kCollectiveOfApply);
  s.Tensor(0, 0, 0).queued = {{0, kStep, {}}};
  s.Put(s.Tensor(0, 1, 0), 0, kStep, kCollective);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.0");
}

TEST(BadChip, ACoreAtACollectiveWaitsForItsMateAtATransfer) {
  Scenario s;
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  s.Put(s.Tensor(0, 3, 1), 0, kStep, {2, 0x800, "all-gather.9"});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.1");
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kTransfer);
  EXPECT_EQ(Diagnose(s).find("BAD_TPU_CHIP"), std::string::npos) << Diagnose(s);
}

TEST(BadChip, MatesInOneKernelWaitForTheOneThatIsNotInIt) {
  const Spot ring{2, 0x800, "ring_attention_custom_call.2"};
  EXPECT_EQ(Diagnose(StuckWithMates({2, 0x700, "tpu_custom_call.7"}, ring)),
            "BAD_TPU_CHIP/TENSOR_CORE 0.2.3");
  EXPECT_EQ(Diagnose(StuckWithMates(ring, ring)).find("BAD_TPU_CHIP"), std::string::npos);
}

TEST(BadChip, OfAPairWithoutHloNobodyCanTellWhoWaits) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.Put(s.Tensor(0, 1, 3), 0, kStep, {2, 0x800, std::nullopt});
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // Chips 1 and 2 are no pair of any mesh axis that is known.
  s.Put(s.Tensor(0, 1, 3), 0, kStep, {kCollective.tag, kCollective.pc, std::nullopt});
  s.Put(s.Tensor(0, 1, 1), 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.1 0.1.2");
}

TEST(BadChip, WhoIsFurtherOnInTheLaunchMayWaitForTheOther) {
  Scenario s;
  const Spot further{2, 0x800, std::nullopt};
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.Put(s.Tensor(0, 1, 1), 0, kStep, further);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  // A computing core waits for no other, however far on it is.
  s.Put(s.Tensor(0, 1, 1), 0, kStep, {2, 0x800, "fusion.14"});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.1");
  // In another launch, or beside many, the place in the code says nothing.
  s.Put(s.Tensor(0, 1, 1), 0, kStep - 1, further);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.1");
}

TEST(BadChip, TheStepsOfARingAreOnePlace) {
  Scenario s({.slices = 1});
  s.ForgetHlo();
  for (int i = 0; i < 16; ++i) {
    s.Put(s.Tensor(0, i / 4, i % 4), 0, kStep, {2, 0x900 + 8 * i, std::nullopt});
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.Put(s.Tensor(0, 3, 1), 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.1");
  // A known name makes them one place, however far apart the pcs are.
  for (int i = 0; i < 16; ++i) {
    s.Put(s.Tensor(0, i / 4, i % 4), 0, kStep, {2, 0x900 + 64 * i, "reduce-scatter.4"});
  }
  s.Put(s.Tensor(0, 3, 1), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.1");
}

TEST(BadChip, ACoreInAnEvaluationOutsideTheStep) {
  Scenario s;
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 4; ++task) s.RunOther(slice, task, "jit_eval", "cc03");
  }
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) {
      s.Tensor(1, task, chip).sequencers.front().hlo = "recv-done.2";
      s.Tensor(1, task, chip).sequencers.front().pc = 0x444;
    }
  }
  Sequencer& stuck = s.Tensor(0, 2, 1).sequencers.front();
  stuck.pc = 0x111;
  stuck.hlo = "fusion.4";
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.2.1");
}

TEST(BadChip, TheFewLeadWhateverTheyAreDoing) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, {1, 0x555, "all-gather.9"});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, ChipsInOneCollectiveWaitForEachOther) {
  Scenario s;
  const Spot gather{1, 0x555, "all-gather.9"};
  for (int chip : {2, 3}) s.Put(s.Tensor(0, 1, chip), 0, kStep, gather);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  // At an instruction that computes, both chips are bad.
  for (int chip : {2, 3}) s.Put(s.Tensor(0, 1, chip), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2 0.1.3");
}

TEST(BadChip, HalfASliceElsewhereIsNotFew) {
  Scenario s;
  s.ForgetHlo();
  s.PutHost(0, 0, 0, kStep, kSomewhere);
  s.PutHost(0, 1, 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(BadChip, TheLaggardIsTheSuspectThoughPeersAreInAnotherModule) {
  Scenario s;
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  s.Put(s.Tensor(0, 3, 0), 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.0");
}

TEST(BadChip, TheLaggardIsFoundByQueuesWithoutASequence) {
  Scenario s;
  s.ForgetCohorts();
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  s.Put(s.Tensor(0, 3, 0), 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.0");
}

TEST(BadChip, LaunchIdsWrap) {
  Scenario s;
  s.ForgetCohorts();
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).launch_id = INT32_MIN;
  }
  s.Put(s.Tensor(0, 2, 1), 0, INT32_MAX, kSomewhere);
  s.Tensor(0, 2, 1).queued.clear();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.2.1");
}

TEST(BadChip, WhoMovedOnIsAVictimHoweverFew) {
  // One core has finished the launch in which the others wait: that singles out no core.
  Scenario s;
  s.Put(s.Tensor(0, 3, 0), 1, kApply, kCollectiveOfApply);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// Two slices of one core each: slice 0 stands at `spot`, and slice 1 waits for slice 0.
Scenario TwoLoneCores(const Spot& spot) {
  Scenario s({.slices = 2, .tasks = 1, .chips = 1});
  s.PutSlice(0, 0, kStep, spot);
  return s;
}

TEST(BadChip, TheOnlyOtherSliceComputes) {
  const Scenario s = TwoLoneCores(kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
  EXPECT_THAT(Classify(s.capture).culprits.front().why, HasSubstr("1 core stands behind it"));
}

TEST(BadChip, ALoneCoreWithoutHloIsNotTakenForComputing) {
  EXPECT_EQ(Diagnose(TwoLoneCores(kSomewhere)), "UNKNOWN");
  Scenario s = TwoLoneCores(kCompute);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(BadChip, ALoneCoreThatCanBeWaitingIsNotTakenForComputing) {
  EXPECT_EQ(Diagnose(TwoLoneCores(kCollective)), "UNKNOWN");
  EXPECT_EQ(Diagnose(TwoLoneCores(kTransfer)), "UNKNOWN");
}

// Its peer may be gone, and then it waits for data that never come.
TEST(BadChip, ALoneCoreWhosePeerIsMissingIsLessSure) {
  Scenario s({.slices = 3});
  s.ForgetHlo();
  s.Tensor(1, 2, 3).sequencers.front().pc = 0x1ae;
  const auto confidence = [&s] { return Classify(s.capture).confidence.value_or(0); };
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 1.2.3");
  const double alone = confidence();
  s.Remove(0, 1);
  EXPECT_EQ(confidence(), alone);
  s.Remove(0, 2);
  EXPECT_LT(confidence(), alone - 0.2);
}

TEST(BadChip, ALoneCoreThatIsAheadOwesNothing) {
  Scenario s = TwoLoneCores(kCompute);
  s.PutSlice(0, 0, kStep + 1, kCompute);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(BadChip, OfThreeLoneSlicesTheOneThatComputes) {
  Scenario s({.slices = 3, .tasks = 1, .chips = 1});
  s.PutSlice(0, 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.0.0");
  s.PutSlice(1, 0, kStep, kCollective);  // slice 1 waits for no slice
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// The chips of the halted host stand where they happened to be; one of them has halted.
Scenario HaltedHost(std::optional<int32_t> chip) {
  Scenario s;
  for (int i = 0; i < 4; ++i) s.Put(s.Tensor(0, 1, i), 0, kStep, {2, 0x700 + i, std::nullopt});
  s.Log(0, 1, LogKind::kHaltHardware, "observed errors are: [Hardware]", kStillMs, chip);
  return s;
}

TEST(BadChip, OfAHostThatStandsElsewhereTheChipThatHalted) {
  EXPECT_EQ(Diagnose(HaltedHost(2)), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, OfAHostThatStandsElsewhereNoChipIfNoneIsNamed) {
  EXPECT_EQ(Diagnose(HaltedHost(std::nullopt)), "BAD_TPU_CHIP/TENSOR_CORE 0.1");
}

TEST(BadChip, TwoOfThem) {
  Scenario s({.slices = 3});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.PutSlice(2, 0, kStep, kCollective);
  s.Put(s.Tensor(2, 3, 1), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2 2.3.1");
}

TEST(BadChip, ALoopIsAHeadWithLessConfidence) {
  Scenario stands;
  stands.Put(stands.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  Scenario loops = stands;
  loops.Tensor(0, 1, 2).sequencers[0].frozen_ms = 0;
  EXPECT_EQ(Diagnose(loops), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  EXPECT_LT(Classify(loops.capture).confidence, Classify(stands.capture).confidence);
}

TEST(BadChip, SiblingsOfOneDeviceCountOnce) {
  Scenario s;
  s.capture.header.generation = "v5p";
  for (Snapshot& snapshot : s.capture.snapshots) {
    const std::vector<Core> cores = snapshot.cores;
    for (Core core : cores) {
      core.index = 1;
      snapshot.cores.push_back(core);
    }
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, HostsThatRanOutOfWorkFarFromTheFaultAreVictims) {
  Scenario s({.slices = 3});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  // Slice 2 is a step ahead: one host got the next launch, the other host did not.
  s.PutSlice(2, 0, kStep + 1, kCollective);
  s.MakeIdle(2, 1);
  for (int chip = 0; chip < 4; ++chip) s.Tensor(2, 1, chip).launch_id = kApply;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChip, ItsPeerInAnotherSliceWaitsForIt) {
  Scenario s;
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.PutSlice(1, 1, kApply + 1, kCollectiveOfApply);
  s.Put(s.Tensor(1, 1, 2), 0, kStep + 1, {3, 0xa00, std::nullopt});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(SparseCore, StandsWhereNoPeerStandsAndItsTensorCoreWaits) {
  Scenario s({.sparse_cores = 2});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, {2, 0x777, "sparse-core-done.9"});
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {28, 0x2d0c, std::nullopt});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.1.2");
}

TEST(SparseCore, IdleIsNormal) {
  Scenario s({.sparse_cores = 2});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

void CarryCollective(Scenario& s) {
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) {
      s.Put(s.Sparse(0, task, chip), 0, kStep, {4, 0x300, std::nullopt});
    }
  }
}

TEST(SparseCore, ThatCarriesPartOfACollectiveWaitsLikeEveryone) {
  Scenario s({.sparse_cores = 1});
  CarryCollective(s);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(SparseCore, StuckInACollectiveThatTheOthersCarry) {
  Scenario s({.sparse_cores = 1});
  CarryCollective(s);
  s.Sparse(0, 1, 2).sequencers[0].pc = 0x280;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.1.2");
}

TEST(SparseCore, OfTwoInOneExchangeTheOneFurtherOnWaits) {
  Scenario s({.sparse_cores = 1});
  for (int task : {1, 2}) s.Put(s.Tensor(0, task, 2), 0, kStep, {1, 0x280, std::nullopt});
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {28, 0x1e0, std::nullopt});
  s.Put(s.Sparse(0, 2, 2), 0, kStep, {28, 0x60, std::nullopt});
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.2.2");
  // Places in different programs have no order.
  s.Sparse(0, 2, 2).sequencers[0].tag = 27;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(SparseCore, EitherTensorCoreOfItsChipMayWaitForIt) {
  Scenario s({.sparse_cores = 1});
  s.capture.header.generation = "7x";
  for (int task : {1, 2}) {
    Core second = s.Tensor(0, task, 2);
    second.index = 1;
    s.Put(second, 0, kStep, {1, 0x280, "sc_lookup.call-done.4"});
    s.At(0, task).cores.push_back(second);
  }
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {28, 0x1e0, "sc_all-to-all.2"});
  s.Put(s.Sparse(0, 2, 2), 0, kStep, {28, 0x60, "sc_gather.1"});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.2.2");
}

TEST(SparseCore, WaitsForThoseOfAHostThatNeverGotTheLaunch) {
  Scenario s({.slices = 1, .tasks = 2, .chips = 1, .sparse_cores = 1});
  s.Put(s.Tensor(0, 0, 0), 0, kStep, {1, 0x280, std::nullopt});
  s.Put(s.Sparse(0, 0, 0), 0, kStep, {28, 0x60, std::nullopt});
  s.MakeIdle(0, 1);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(SparseCore, ATensorCoreInComputeIsNotHeldByIt) {
  Scenario s({.sparse_cores = 1});
  CarryCollective(s);
  s.Sparse(0, 1, 2).sequencers[0].pc = 0;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(BadChipRemoval, PositionAndJobLogRemoveNothing) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.Log(0, 1, LogKind::kHaltHardware, "observed errors are: [Hardware]", kStillMs, 2);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  EXPECT_FALSE(verdict.removal.eligible);
}

TEST(BadChipRemoval, AFatalPcieErrorOnThatChipDoes) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.At(0, 1).pcie = {{2, 1, 0, 0}};
  s.At(0, 1).direct_evidence = true;
  const Verdict verdict = Classify(s.capture);
  EXPECT_TRUE(verdict.removal.eligible);
  ASSERT_EQ(verdict.removal.targets.size(), 1U);
  EXPECT_EQ(verdict.removal.targets[0].host, "host-0-1");
  EXPECT_EQ(verdict.removal.targets[0].chip, 2);
}

TEST(BadChipRemoval, OneOnAnotherChipDoesNot) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.At(0, 1).pcie = {{3, 1, 0, 0}};
  s.At(0, 1).direct_evidence = true;
  const Verdict verdict = Classify(s.capture);
  for (const RemovalTarget& target : verdict.removal.targets) EXPECT_EQ(target.chip, 3);
}

TEST(BadChipRemoval, CorrectableErrorsAreNoise) {
  Scenario s;
  s.At(0, 1).pcie = {{2, 0, 0, 900}};
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(BadChipRemoval, OnlyTheKernelsLogIsBeyondTheJobsReach) {
  for (const LogSource source : {LogSource::kKernelLog, LogSource::kJobLog}) {
    Scenario s;
    s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
    s.At(0, 1).direct_evidence = true;
    s.Log(0, 1, LogKind::kKernelHardware, "accel2: device recovery failed", kStillMs, 2, source);
    EXPECT_EQ(Classify(s.capture).removal.eligible, source == LogSource::kKernelLog);
  }
}

TEST(BadChipByWord, ADriverOfGpusSpeaksOfAGpu) {
  for (const char* line : {"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
                           "amdgpu 0000:2f:00.0: amdgpu: GPU reset begin!"}) {
    Scenario s;
    s.Log(0, 1, LogKind::kKernelHardware, line, kStillMs, std::nullopt, LogSource::kKernelLog);
    EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/GPU 0.1") << line;
  }
}

// The same evidence names the same culprit, whichever agent reports it.
TEST(BadChipTrust, OnlyAnAgentOutOfTheJobsReachRemovesAtOnce) {
  for (const bool by_pcie : {true, false}) {
    for (const std::optional<bool> direct :
         {std::optional<bool>(), std::optional(false), std::optional(true)}) {
      Scenario s;
      s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
      s.At(0, 1).direct_evidence = direct;
      s.At(1, 0).direct_evidence = true;  // another agent's standing is not this one's
      if (by_pcie) {
        s.At(0, 1).pcie = {{2, 1, 0, 0}};
      } else {
        s.Log(0, 1, LogKind::kKernelHardware, "accel2: device recovery failed", kStillMs, 2,
              LogSource::kKernelLog);
      }
      const Verdict verdict = Classify(s.capture);
      EXPECT_EQ(Summary(verdict), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
      EXPECT_EQ(verdict.evidence.front().strength, Strength::kDirect);
      EXPECT_EQ(verdict.removal.eligible, direct == true);
      EXPECT_THAT(verdict.removal.reason,
                  ::testing::HasSubstr(direct == true ? "an agent out of the job's reach reports"
                                                      : "is within the job's reach"));
    }
  }
}

// A report of the job's agent does not hide the report of an independent agent on the same chip.
TEST(BadChipTrust, TheJobsWordDoesNotStandBeforeAnother) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.At(0, 1).direct_evidence = true;
  s.Log(0, 1, LogKind::kHaltHardware, "observed errors are: [Hardware]", kStillMs + 5, 2);
  s.Log(0, 1, LogKind::kKernelHardware, "accel2: device recovery failed", kStillMs, 2,
        LogSource::kKernelLog);
  EXPECT_TRUE(Classify(s.capture).removal.eligible);
}

TEST(BadChip, ADriverErrorAccusesTheWorkerItNames) {
  Scenario s;
  s.Log(1, 0, LogKind::kChipDriverError,
        "Session master detected TPU session error from worker host-0-3.svc:8471.", kStillMs);
  s.At(1, 0).log_events[0].peer_host = "host-0-3.svc";
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3");
}

TEST(BadChip, ADriverErrorThatNamesNobodyAccusesNobody) {
  Scenario s;
  s.Log(1, 0, LogKind::kChipDriverError, "Session master detected TPU session error", kStillMs);
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// The pc of a waiting core may be read a few bundles beside the others' pc.
TEST(BadChip, ACoreRightBesideTheOthersInTheCodeStandsWithThem) {
  Scenario s({.slices = 1});
  s.ForgetHlo();
  const auto pc = s.Tensor(0, 1, 2).sequencers[0].pc;
  s.Tensor(0, 1, 2).sequencers[0].pc = *pc + 4;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s.Tensor(0, 1, 2).sequencers[0].pc = *pc + 64;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

// An exit elsewhere raises an alarm at once, while most cores are in the middle of a long step.
TEST(BadChip, ACoreThatWentOnJustBeforeAnExitStillWorks) {
  const auto diagnose_after = [](int64_t moved_ms, int64_t completed_ms, int64_t declared_ms = 0) {
    Scenario s({.slices = 2});
    s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
    if (declared_ms > 0) s.At(0, 1).hang_report = HangReport{.timeout_ms = declared_ms};
    s.capture.header.trigger = "exit";
    s.capture.header.hang_threshold_ms = 120'000;
    for (Snapshot& snapshot : s.capture.snapshots) {
      for (Core& core : snapshot.cores) {
        core.stuck_ms = completed_ms;
        for (Sequencer& sequencer : core.sequencers) sequencer.frozen_ms = moved_ms;
      }
    }
    return Classify(s.capture).cause;
  };
  EXPECT_NE(diagnose_after(1'600, 6'100), Cause::kBadTpuChip);
  EXPECT_EQ(diagnose_after(110'000, 115'000), Cause::kBadTpuChip);
  // The runtime waited for 6 s before it declared the hang and ended its process.
  EXPECT_EQ(diagnose_after(1'600, 6'100, 6'000), Cause::kBadTpuChip);
  EXPECT_NE(diagnose_after(1'600, 6'100, 60'000), Cause::kBadTpuChip);
}

// Two faults at once: the surer is the cause, the other an alternative with its own culprits.
TEST(BadChip, AnotherFaultStandsBesideItWithItsOwnCulprits) {
  Scenario s({.slices = 2});
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.MakeIdle(1, 3);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
  Scenario idle({.slices = 1});
  idle.MakeIdle(0, 3);
  idle.Put(idle.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(idle), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.3");
}

}  // namespace
}  // namespace rapideye::classifier::testing
