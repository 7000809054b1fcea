#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

// The host that has left jit_apply out is in the next step, at a collective of its own.
TEST(DifferentModule, OneHostThatLeftALaunchOutIsNamed) {
  Scenario s({.slices = 1});
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  for (int task : {0, 1, 3}) {
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).queued.clear();
  }
  s.PutHost(0, 2, 0, kStep + 1, kCollective);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
}

// Polls saw the host in the launch in which its mates stand, and then in one that is not of the
// step.
TEST(DifferentModule, WhoHasPassedTheCollectiveOfItsMatesIsNamedThoughMostHavePassedIt) {
  Scenario s({.slices = 3});
  s.PutSlice(1, 0, kStep, kCollective);
  for (int slice : {0, 2}) {
    for (int task = 0; task < 4; ++task) {
      s.RunOther(slice, task, "jit_save", "cc03");
      for (int chip = 0; chip < 4; ++chip) {
        Core& core = s.Tensor(slice, task, chip);
        core.queued.clear();
        core.sequencers.front().pc = 0;
        core.sequencers.front().hlo.reset();
      }
    }
  }
  s.RunOther(1, 3, "jit_save", "cc03");
  for (int chip = 0; chip < 4; ++chip) {
    Transition& seen = s.Tensor(1, 3, chip).transitions.emplace_back();
    seen.age_ms = 80'000;
    seen.program = 0;
    seen.launch_id = kStep;
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Its mates will come to the launch that it is in, and wait for it in an earlier one.
TEST(DifferentModule, WhoIsAheadOfItsMatesIsNamedThoughHalfTheJobQueuesItsProgram) {
  Scenario s;
  s.PutSlice(0, 0, kStep, kTransfer);
  s.PutSlice(1, 1, kApply, kCollectiveOfApply);
  s.RunOther(1, 3, "jit_eval", "cc03");
  for (int task = 0; task < 3; ++task) {
    s.At(1, task).programs.push_back({"jit_eval", "cc03"});
    for (int chip = 0; chip < 4; ++chip) s.Tensor(1, task, chip).queued = {{2, 5, std::nullopt}};
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Another host was in the collective of the one and then in the launch of the other.
TEST(DifferentModule, TheOrderInWhichOthersWereGivenTwoLaunchesTellsWhoIsAhead) {
  Scenario s({.slices = 2, .tasks = 2});
  s.PutSlice(0, 0, kStep, kCollective);
  s.RunOther(0, 0, "jit_save", "cc03");
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 0, chip).launch_id = 7;
  for (int task = 0; task < 2; ++task) {
    s.MakeIdle(1, task);
    const auto save = static_cast<int32_t>(s.At(1, task).programs.size());
    s.At(1, task).programs.push_back({"jit_save", "cc03"});
    for (int chip = 0; chip < 4; ++chip) {
      Core& core = s.Tensor(1, task, chip);
      core.program = save;
      core.launch_id = 7;
      Transition step;
      step.age_ms = 80'000;
      step.program = 0;
      step.launch_id = kStep;
      Transition then = step;
      then.age_ms = 70'000;
      then.program = save;
      then.launch_id = 7;
      core.transitions = {step, then};
    }
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0");
}

// The step ends before the save, which the other slices have reached; nobody was seen in both.
Scenario MatesBehindASave() {
  Scenario s({.slices = 3});
  s.ForgetHlo();
  const auto save = [&s](int slice, int task) {
    s.RunOther(slice, task, "jit_save", "cc03");
    for (int chip = 0; chip < 4; ++chip) s.Tensor(slice, task, chip).launch_id = 7;
  };
  for (int slice : {0, 2}) {
    for (int task = 0; task < 4; ++task) save(slice, task);
  }
  save(1, 3);
  return s;
}

TEST(DifferentModule, WhoIsInASaveThatOtherSlicesHaveReachedIsAheadOfMatesInTheStep) {
  EXPECT_EQ(Diagnose(MatesBehindASave()), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

TEST(DifferentModule, OldRuntimesTellByThePrograms) {
  Scenario s = MatesBehindASave();
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) {
      core.launch_id.reset();
      core.queued.clear();
    }
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
}

// Without a step, only what the other slices have been given shows that this is no program of the
// mates alone.
TEST(DifferentModule, WithoutAStepTheOtherSlicesProgramsTellWhoIsAhead) {
  Scenario s = MatesBehindASave();
  s.capture.header.cohorts.clear();
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Core& core : snapshot.cores) core.queued.clear();
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.3");
  for (Snapshot& snapshot : s.capture.snapshots) {
    if (snapshot.worker.slice != 1) {
      for (Program& program : snapshot.programs) {
        if (program.module == "jit_step") program = {"jit_other", "dd04"};
      }
    }
  }
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 1.0 1.1 1.2");
}

// Both wait for another slice, and each is given its own compilation of the step for ever.
TEST(DifferentModule, TwoCompilationsThatAreBothQueuedAgainNeedNoPlace) {
  Scenario s;
  for (int slice : {0, 1}) {
    s.PutSlice(slice, 0, kStep, kCollective);
    s.PutHost(slice, 3, 0, kStep, kTransfer);
    for (int task = 0; task < 4; ++task) {
      for (int chip = 0; chip < 4; ++chip) {
        s.Tensor(slice, task, chip).queued = {{0, kStep + 1, std::nullopt}};
      }
    }
  }
  s.RunOther(1, 3, "jit_step", "cc03");
  for (int chip = 0; chip < 4; ++chip) {
    Core& core = s.Tensor(1, 3, chip);
    core.launch_id = 900;
    core.queued = {{*core.program, 901, std::nullopt}};
    core.sequencers.front().hlo = kTransfer.hlo;
  }
  EXPECT_EQ(Diagnose(s), "FINGERPRINT_MISMATCH 1.3");
}

// The last hosts of all slices evaluate, and wait for that chip; the others have passed them.
TEST(DifferentModule, AChipThatStandsApartHoldsThoseInItsProgram) {
  Scenario s({.slices = 3});
  for (int slice = 0; slice < 3; ++slice) {
    s.PutSlice(slice, 0, kStep, kCollective);
    s.RunOther(slice, 3, "jit_eval", "cc03");
  }
  s.ForgetHlo();
  s.Tensor(1, 3, 0).sequencers.front().pc = 0x1ae;
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 1.3.0");
}

// Nothing shows that a slice without work would not have got that launch, too.
TEST(DifferentModule, AnIdleSliceIsNotAtOddsWithAnotherProgram) {
  Scenario s;
  for (int task = 0; task < 4; ++task) {
    s.RunOther(0, task, "jit_save", "cc03");
    for (int chip = 0; chip < 4; ++chip)
      s.Tensor(0, task, chip).sequencers.front().hlo = "recv-done.7";
    s.MakeIdle(1, task);
  }
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

// In a job of several slices, the others may still wait for another slice, of which the odd host
// has got its part: connections that nobody reports on may be broken.
TEST(DifferentModule, WhoIsAheadMayHavePassedATransfer) {
  Scenario s;
  s.PutSlice(0, 0, kStep, kSomewhere);
  for (int task : {0, 1}) s.PutHost(0, task, 1, kApply, {2, 0x300, std::nullopt});
  s.PutSlice(1, 0, kStep, {3, 0xa00, std::nullopt});
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
  s.ProbeAll();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.0 0.1");
}

// All of them may wait for a mate of which nothing is known.
TEST(DifferentModule, NobodyIsNamedBesideAMateThatIsMissing) {
  Scenario s({.slices = 1});
  s.ForgetHlo();
  s.PutSlice(0, 1, kApply, kCollectiveOfApply);
  for (int task : {0, 1, 3}) {
    for (int chip = 0; chip < 4; ++chip) s.Tensor(0, task, chip).queued.clear();
  }
  s.PutHost(0, 2, 0, kStep + 1, kCollective);
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/LAUNCH_ORDER 0.2");
  s.Remove(0, 1);
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

// Data that does not arrive holds them in the program that the others have left.
TEST(DifferentModule, ABrokenConnectionExplainsTheHostsAtItsEnds) {
  Scenario s;
  for (const int slice : {0, 1}) s.RunOther(slice, 2, "jit_eval", "cc03");
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2 1.2");
  for (const int slice : {0, 1}) {
    Socket& socket = s.At(slice, 2).sockets.emplace_back();
    socket.peer = {1 - slice, 2};
    socket.unacked_bytes = 900'000;
    socket.since_ack_ms = kStillMs;
    socket.retransmits = 9;
  }
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.2 1.2");
}

// The others have been in that very launch, and have gone on.
TEST(DifferentModule, WhoStandsInALaunchThatTheOthersHaveLeftIsBehind) {
  Scenario s({.slices = 1});
  s.RunOther(0, 2, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  const Core odd = s.Tensor(0, 2, 0);
  const auto have_left = [&](int32_t launch_id) {
    for (int task : {0, 1, 3}) {
      Snapshot& snapshot = s.At(0, task);
      const auto program = static_cast<int32_t>(snapshot.programs.size());
      snapshot.programs.push_back({"jit_eval", "cc03"});
      for (int chip = 0; chip < 4; ++chip) {
        Transition& seen = s.Tensor(0, task, chip).transitions.emplace_back();
        seen.age_ms = 90'000;
        seen.program = program;
        seen.launch_id = launch_id;
      }
    }
  };
  // Another launch of the same program proves nothing about this launch.
  have_left(*odd.launch_id - 1);
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.2");
  have_left(*odd.launch_id);
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

TEST(DifferentModule, WhoWaitsInAnotherLaunchForAnIdleHostHasNotDiverged) {
  Scenario s({.slices = 1});
  s.MakeIdle(0, 1);
  s.RunOther(0, 2, "jit_eval", "cc03");
  for (int chip = 0; chip < 4; ++chip) s.Tensor(0, 2, chip).sequencers[0].hlo = "all-reduce.1";
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

// Stages of two hosts each: only the name of the program shows the odd one.
TEST(DifferentModule, OfTwoHostsTheOneWhoseProgramNobodyElseKnows) {
  for (const bool known : {false, true}) {
    Scenario s({.tasks = 2});
    Cohort& first = s.capture.header.cohorts[0];
    Cohort second{.name = "stage 1", .workers = {{1, 0}, {1, 1}}, .sequence = {}};
    first.workers = {{0, 0}, {0, 1}};
    first.sequence.clear();
    s.capture.header.cohorts.push_back(second);
    s.RunOther(0, 1, "jit_warmup", "cc03");
    for (const int task : {0, 1}) s.RunOther(1, task, known ? "jit_step" : "jit_save", "dd04");
    for (const int task : {0, 1}) {
      for (int chip = 0; chip < 4; ++chip)
        s.Tensor(1, task, chip).sequencers[0].hlo = "recv-done.1";
    }
    EXPECT_EQ(Diagnose(s), known ? "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.1"
                                 : "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0 0.1");
  }
}

// Host 0.0 has left out the end of a step, in which its mate waits, and meets the other slice.
TEST(DifferentModule, WhoIsPastACollectiveOfItsSliceHasLeftItOut) {
  Scenario s({.tasks = 2});
  std::vector<SequenceEntry>& sequence = s.capture.header.cohorts[0].sequence;
  sequence.erase(sequence.begin());  // the learnt order knows jit_apply alone
  s.PutHost(0, 1, 1, kApply - 1, kCollectiveOfApply);
  for (const int slice : {0, 1}) {
    for (const int task : {0, 1}) {
      for (int chip = 0; chip < 4; ++chip) s.Tensor(slice, task, chip).queued.clear();
    }
  }
  for (const int64_t step : {11, 12}) {
    for (const int task : {0, 1}) s.At(0, task).progress = Progress{.step = 11};
    s.At(0, 0).progress->step = step;
    EXPECT_EQ(Diagnose(s), step == 12 ? "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.0"
                                      : "DIFFERENT_MODULE/MODULE_DIVERGENCE 0.1");
  }
}

// The other slices wait for a slice that is held up by one of its own cores, whatever they run.
TEST(DifferentModule, SlicesThatWaitForOneThatComputesHaveNotDiverged) {
  Scenario s({.slices = 3});
  for (const int slice : {1, 2}) {
    for (int task = 0; task < 4; ++task) {
      s.RunOther(slice, task, "jit_eval", "cc03");
      for (int chip = 0; chip < 4; ++chip) {
        s.Tensor(slice, task, chip).sequencers[0].hlo = "recv-done.1";
      }
    }
  }
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(DifferentModule, ASliceInAnotherPhaseMayBeAheadOfTheOneThatIsHeldUp) {
  Scenario s({.slices = 3, .sparse_cores = 1});
  for (int task = 0; task < 4; ++task) s.RunOther(2, task, "jit_eval", "cc03");
  EXPECT_EQ(Diagnose(s), "DIFFERENT_MODULE/MODULE_DIVERGENCE 2.0 2.1 2.2 2.3");
  s.Put(s.Tensor(0, 1, 2), 0, kStep, {1, 0x280, std::nullopt});
  s.Put(s.Sparse(0, 1, 2), 0, kStep, {28, 0x2d0, std::nullopt});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/SPARSE_CORE 0.1.2");
}

}  // namespace
}  // namespace rapideye::classifier::testing
