#include "classifier/host/host_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "classifier/classify.h"
#include "classifier/wording/phrases.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using Frames = std::vector<std::string>;

// As py-spy shows them in a job of jax 0.10, innermost first.
const Frames kInCollective = {"jax/_src/array.py:648 _value", "jax/_src/array.py:312 __float__",
                              "train.py:120 main"};
const Frames kEvaluates = {"jax/_src/array.py:648 _value", "jax/_src/array.py:312 __float__",
                           "train.py:70 evaluate", "train.py:130 main"};
const Frames kAtBarrier = {"jax/_src/array.py:648 _value",
                           "jax/experimental/multihost_utils.py:155 process_allgather",
                           "train.py:97 main"};
const Frames kInShutdown = {"jax/_src/distributed.py:199 shutdown",
                            "jax/_src/distributed.py:301 clean_up"};
const Frames kInLoader = {"threading.py:327 wait", "queue.py:171 get",
                          "grain/_src/python/dataset/transformations/prefetch.py:512 __next__",
                          "train.py:90 main"};
const Frames kInLock = {"threading.py:327 wait", "train.py:31 take", "train.py:88 main"};
const Frames kInOwn = {"train.py:31 think", "train.py:88 main"};
const Frames kInSave = {"epath/backend.py:60 open", "orbax/checkpoint/manager.py:900 save",
                        "train.py:131 main"};
const Frames kCompiles = {"jax/_src/compiler.py:361 backend_compile_and_load", "train.py:120 main"};

// A job of one slice without any core known, after an alarm for lack of progress.
class HostPlaceTest : public ::testing::Test {
 protected:
  HostPlaceTest() {
    for (int task = 0; task < 4; ++task) {
      s_.At(0, task).cores.clear();
      s_.At(0, task).runtime.state = RuntimeState::kUnavailable;
      Stand(task, kInCollective);
    }
    s_.capture.header.trigger = "no-progress";
  }

  void Stand(int task, const Frames& frames) {
    s_.At(0, task).stacks = {{.thread = "MainThread", .frames = frames}};
  }
  void Page(int task, Phase phase, int64_t step) {
    s_.At(0, task).stacks.clear();
    s_.At(0, task).progress = Progress{.step = step, .phase = phase, .phase_ms = kStillMs};
  }
  // The activity of the only culprit, or of all culprits if they agree.
  std::string Activity() const {
    const Verdict verdict = Classify(s_.capture);
    if (verdict.culprits.empty() || !verdict.culprits.front().host_activity) return "";
    return std::string(HostActivityName(*verdict.culprits.front().host_activity));
  }

  Scenario s_{Shape{.slices = 1, .tasks = 4}};
};

TEST_F(HostPlaceTest, AllInOneCollectiveSingleNobodyOut) { EXPECT_EQ(Diagnose(s_), "UNKNOWN"); }

// A snapshot on request: no alarm says that the job stands, and no loop reports on itself.
TEST_F(HostPlaceTest, ProcessesThatOnlyWaitShowThatTheJobStands) {
  s_.capture.header.trigger = "operator";
  s_.capture.header.hang_threshold_ms = 300'000;
  Stand(2, kInLock);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  const std::string found = "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2";
  for (int task = 0; task < 4; ++task) s_.At(0, task).only_waits_ms = 300'000;
  EXPECT_EQ(Diagnose(s_), found);
  // One that works contradicts; one that does not tell does not.
  s_.At(0, 1).only_waits_ms = 5'000;
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  s_.At(0, 1).only_waits_ms.reset();
  EXPECT_EQ(Diagnose(s_), found);
  for (int task : {0, 2}) s_.At(0, task).only_waits_ms.reset();
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  // In health they waited for nearly as long.
  for (int task = 0; task < 4; ++task) s_.At(0, task).only_waits_ms = 300'000;
  s_.At(0, 3).work = Work{.since_ms = 300'000, .longest_ms = 150'000};
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, TheOneThatWaitsForInputWhileTheOthersWaitForIt) {
  Stand(2, kInLoader);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
  EXPECT_EQ(Activity(), "INPUT");
}

// Their loops have come as far as a collective with the batches that they had.
TEST_F(HostPlaceTest, LoadersOfTheOthersThatGetNoDataAreToldOf) {
  const Frames starved = {"source.py:31 read_block", "feed.py:9 work",
                          "multiprocessing/process.py:108 run"};
  const Frames full = {"multiprocessing/queues.py:89 put", "feed.py:9 work",
                       "multiprocessing/process.py:108 run"};
  const auto tells = [this](const Frames& culprit, const Frames& others) {
    for (int task = 0; task < 4; ++task) {
      Stand(task, task == 2 ? kInLoader : kInCollective);
      s_.At(0, task).stacks.push_back(
          {.thread = "child 9 (python): MainThread", .frames = task == 2 ? culprit : others});
    }
    const Verdict verdict = Classify(s_.capture);
    EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
    return std::any_of(verdict.evidence.begin(), verdict.evidence.end(), [](const auto& item) {
      return item.statement.find("loaders of") != std::string::npos;
    });
  };
  EXPECT_TRUE(tells(starved, starved));
  EXPECT_FALSE(tells(starved, full));
  EXPECT_FALSE(tells(full, full));
}

TEST_F(HostPlaceTest, ALockASaveACompilation) {
  Stand(2, kInLock);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "LOCK");
  Stand(2, kInSave);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
  Stand(2, kCompiles);
  EXPECT_EQ(Activity(), "COMPILATION");
}

TEST_F(HostPlaceTest, AFileOfTheLoopThatIsNamedAfterCheckpointsIsNone) {
  Stand(2, {"train_ckpt.py:31 read_shard", "train_ckpt.py:88 main"});
  EXPECT_EQ(Activity(), "STORAGE_READ");
  Stand(2, {"train_ckpt.py:31 save_ckpt", "train_ckpt.py:88 main"});
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
  Stand(2, {"ckpt.py:31 write_shard", "train.py:88 main"});
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
}

TEST_F(HostPlaceTest, TheNameOfAFunctionTellsByItsWords) {
  for (const auto& [function, activity] : std::vector<std::pair<std::string, std::string>>{
           {"read_block", "STORAGE_READ"},
           {"Source.read_block", "STORAGE_READ"},
           {"readBlock", "STORAGE_READ"},
           {"fetch2", "STORAGE_READ"},
           {"take_lock", "LOCK"},
           {"FileLock.acquire", "LOCK"},
           {"print_to_reader", "OTHER"},
           {"run_thread", "OTHER"},
           {"block_on_quota", "OTHER"},
           {"tick_clock", "OTHER"},
           {"_", "OTHER"},
       }) {
    Stand(2, {"train.py:31 " + function, "train.py:88 main"});
    EXPECT_EQ(Activity(), activity) << function;
  }
}

TEST_F(HostPlaceTest, WhoLeftABarrierOutStandsInAnotherWait) {
  for (int task : {0, 1, 3}) Stand(task, kAtBarrier);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "BARRIER");
}

TEST_F(HostPlaceTest, WhoWaitsInTheShutdownAloneHasLeftTheLoop) {
  Stand(1, kInShutdown);
  EXPECT_EQ(Diagnose(s_), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1");
  EXPECT_EQ(Activity(), "SHUTDOWN");
}

// Where no majority decides, as among two hosts.
TEST_F(HostPlaceTest, WhoWaitsInTheShutdownWhileHalfOfAllAreInTheLoopHasLeftIt) {
  for (int task : {1, 3}) Stand(task, kInShutdown);
  EXPECT_EQ(Diagnose(s_), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.1 0.3");
}

TEST_F(HostPlaceTest, AllInOneSaveAreAllNamed) {
  for (int task = 0; task < 4; ++task) Stand(task, kInSave);
  EXPECT_EQ(Classify(s_.capture).culprits.size(), 4U);
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
}

TEST_F(HostPlaceTest, PagesTellWhereNoStackDoes) {
  for (int task : {0, 1, 3}) Page(task, Phase::kStep, 41);
  Page(2, Phase::kInput, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
  Page(2, Phase::kStep, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  Page(2, Phase::kStep, 41);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Page(2, Phase::kStep, 42);  // no host waits for a host that is ahead
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, OfTwoThatWaitForDifferentThingsNeitherIsTheMajority) {
  for (int task : {2, 3}) Stand(task, kAtBarrier);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, AJobThatWasOnlyLookedAtAccusesNobody) {
  Stand(2, kInLoader);
  s_.capture.header.trigger = "operator";
  EXPECT_THAT(Diagnose(s_), ::testing::Not(::testing::HasSubstr("0.2")));
}

TEST_F(HostPlaceTest, ALookAtAJobWhosePagesAllStandIsAnAlarm) {
  for (int task = 0; task < 4; ++task) Page(task, Phase::kStep, 41);
  Page(2, Phase::kInput, 40);
  s_.capture.header.trigger = "operator";
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
}

TEST_F(HostPlaceTest, WhoIsInAnotherFunctionOfTheProgramHasLeftOneOut) {
  for (int task : {0, 1, 3}) Stand(task, kEvaluates);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "BARRIER");
  // The first worker often waits for the same numbers in a function of its own.
  Stand(2, kEvaluates);
  Stand(0, kInCollective);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, PagesShowWhoLeftAnEvaluationOrASaveOut) {
  for (int task : {0, 1, 3}) Page(task, Phase::kEval, 40);
  Page(2, Phase::kStep, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  for (int task : {0, 1, 3}) Page(task, Phase::kCheckpoint, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "BARRIER");
}

TEST_F(HostPlaceTest, WhoIsMissingIsTheFirstCandidateOfThoseWhoWait) {
  for (int task : {1, 3}) Stand(task, kInShutdown);
  s_.Remove(0, 2);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, WhomAllOthersWaitForIsLostIfItIsMissing) {
  for (int task : {0, 1, 3}) Stand(task, kAtBarrier);
  s_.Remove(0, 2);
  EXPECT_EQ(Diagnose(s_), "UNRECOVERABLE_ERROR/WORKER_LOST 0.2");
  Stand(1, kInLoader);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.1");
}

TEST_F(HostPlaceTest, WhatSomebodyStoodInBeforeItsEndIsThePast) {
  Stand(2, kInLoader);
  s_.At(0, 2).processes = {{.pid = 7, .state = ProcessState::kZombie, .signal = 6}};
  EXPECT_FALSE(PlaceOfHost(s_.At(0, 2)).has_value());
}

TEST_F(HostPlaceTest, WhoseStackIsMissingWaitsAsOthersOfItsPhase) {
  for (int task : {0, 1, 3}) {
    Page(task, Phase::kCheckpoint, 40);
    if (task != 1) Stand(task, kAtBarrier);
  }
  Page(2, Phase::kStep, 41);
  Stand(2, kInCollective);
  const Verdict verdict = Classify(s_.capture);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].worker.task, 2);
  EXPECT_EQ(Activity(), "BARRIER");
}

TEST_F(HostPlaceTest, WhoseStackIsMissingIsNoCulpritBesideOneThatIsSeenToHang) {
  for (int task : {0, 1, 2, 3}) {
    Page(task, Phase::kCheckpoint, 40);
    Stand(task, kAtBarrier);
  }
  Stand(2, kInSave);
  s_.At(0, 1).stacks.clear();
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, WhoseStackAloneIsMissingIsWhatAllOthersWaitFor) {
  for (int task : {0, 1, 2, 3}) {
    Page(task, Phase::kCheckpoint, 40);
    Stand(task, kAtBarrier);
  }
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  s_.At(0, 1).stacks.clear();
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
  s_.At(0, 2).stacks.clear();
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, OfThoseWhoWaitForNobodyTheEarliestStepIsTheHead) {
  for (int task : {0, 1, 2, 3}) Page(task, Phase::kStep, 41);
  for (int task : {1, 2}) Page(task, Phase::kInput, 41);
  Page(2, Phase::kInput, 40);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
}

TEST_F(HostPlaceTest, TheNativeSideTellsWhatTheProgramsOwnFunctionIsIn) {
  Stand(2, kInOwn);
  const auto with_native = [this](const Frames& frames) {
    s_.At(0, 2).stacks.resize(1);
    s_.At(0, 2).stacks.push_back({.thread = "main (python3)", .frames = frames});
    return Activity();
  };
  EXPECT_EQ(Activity(), "OTHER");
  EXPECT_EQ(with_native({"futex_wait (libc.so.6)", "PyThread_acquire_lock_timed (python3)",
                         "_PyEval_EvalFrameDefault (python3)"}),
            "LOCK");
  EXPECT_EQ(with_native({"gc_collect_main (python3)", "_PyEval_EvalFrameDefault (python3)"}),
            "GARBAGE_COLLECTION");
  EXPECT_EQ(with_native({"__libc_recv (libc.so.6)", "sock_recv (python3)",
                         "_PyEval_EvalFrameDefault (python3)", "xla::Call() (libjax.so)"}),
            "STORAGE_READ");
  // A native stack of dispatch without any frame of Python: the host waits like the others.
  EXPECT_EQ(with_native(
                {"xla::cpu::BlockUntilReady() (libjax.so)", "_PyEval_EvalFrameDefault (python3)"}),
            "BARRIER");
}

TEST_F(HostPlaceTest, TheWaitChannelTellsWhereNoNativeStackIs) {
  Stand(2, kInOwn);
  s_.At(0, 2).processes = {
      {.pid = 7, .state = ProcessState::kSleeping, .wait_channel = "wait_for_partner"}};
  EXPECT_EQ(Activity(), "STORAGE_READ");
}

TEST_F(HostPlaceTest, TheWaitChannelTellsOfTheLockOfAFile) {
  Stand(2, kInOwn);
  for (const char* channel : {"locks_lock_inode_wait", "flock_lock_inode_wait", "futex_wait"}) {
    s_.At(0, 2).processes = {{.pid = 7, .state = ProcessState::kSleeping, .wait_channel = channel}};
    EXPECT_EQ(Activity(), "LOCK") << channel;
  }
}

TEST_F(HostPlaceTest, APipeOfADebuggerOrACommandIsNoStorage) {
  s_.At(0, 2).processes = {
      {.pid = 7, .state = ProcessState::kSleeping, .wait_channel = "pipe_read"}};
  Stand(2,
        {"cmd.py:126 cmdloop", "pdb.py:391 interaction", "train.py:60 inspect", "train.py:9 go"});
  EXPECT_EQ(Activity(), "OTHER");
  Stand(2, {"subprocess.py:1196 communicate", "subprocess.py:550 run", "train.py:60 upload"});
  EXPECT_EQ(Activity(), "OTHER");
  Stand(2, kInOwn);
  EXPECT_EQ(Activity(), "STORAGE_READ");
}

TEST_F(HostPlaceTest, AFunctionOfTheProgramThatTheDeviceCalledIsWhereItStands) {
  s_.At(0, 2).stacks.push_back(
      {.thread = "Thread-3", .frames = {"train.py:60 look_up", "jax/_src/callback.py:88 call"}});
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, AFunctionOfTheProgramAboveAWaitIsWhereItStands) {
  Frames handler = {"train.py:40 wait_for_quota", "train.py:44 on_signal"};
  handler.insert(handler.end(), kInCollective.begin(), kInCollective.end());
  Stand(2, handler);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "OTHER");
  // Whatever it has interrupted.
  handler.resize(2);
  handler.insert(handler.end(), kAtBarrier.begin(), kAtBarrier.end());
  handler.back() = "train.py:97 save_checkpoint";
  Stand(2, handler);
  EXPECT_EQ(Activity(), "OTHER");
  // A function that waits for the device itself has left another one out.
  Stand(2, {"jax/_src/array.py:648 _value", "train.py:40 wait_for_quota", "train.py:120 main"});
  EXPECT_EQ(Activity(), "BARRIER");
}

TEST_F(HostPlaceTest, WhoseInterpreterIsGoneAtItsExitIsInItsShutdown) {
  const auto ends_in = [this](const char* frame) {
    Stand(2, {"futex_wait (libc.so.6)", "grpc_shutdown (libjax.so)", frame});
    s_.At(0, 2).stacks.front().thread = "main (python)";
    return Activity();
  };
  EXPECT_EQ(ends_in("__run_exit_handlers (libc.so.6)"), "SHUTDOWN");
  EXPECT_EQ(ends_in("exit (libc.so.6)"), "SHUTDOWN");
  EXPECT_EQ(ends_in("exit (train.so)"), "OTHER");
}

TEST_F(HostPlaceTest, TheThreadThatTheMainThreadJoinsIsTheLoop) {
  Stand(2, {"threading.py:1119 join", "train.py:200 main"});
  s_.At(0, 2).stacks.push_back({.thread = "Thread-3", .frames = kInLoader});
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/INPUT_PIPELINE 0.2");
}

// As in a job of PyTorch 2.15: the gradients are summed up within the backward pass.
TEST_F(HostPlaceTest, InTheBackwardPassOfPyTorchItWaitsForTheOthers) {
  const Frames backward = {"torch/autograd/graph.py:1113 _engine_run_backward",
                           "torch/autograd/__init__.py:395 backward",
                           "torch/_tensor.py:623 backward", "train.py:23 main"};
  for (const int task : {0, 1, 3}) Stand(task, backward);
  Stand(2, kInOwn);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  // A function of the program that the backward pass has called does not wait.
  Frames hook = backward;
  hook.insert(hook.begin(), "train.py:9 clip");
  Stand(2, hook);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  Stand(2, backward);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
}

TEST_F(HostPlaceTest, APlainLoopOnAGpuWaitsInItsDriver) {
  for (int task = 0; task < 4; ++task) {
    Stand(task, {"train.py:24 main"});
    s_.At(0, task).stacks.push_back(
        {.thread = "main (python)",
         .frames = {"? (libcuda.so.1)", "at::native::_local_scalar_dense_cuda (libtorch_cuda.so)",
                    "_PyEval_EvalFrameDefault (python3.11)"}});
  }
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Stand(2, kInOwn);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, ASaveOfPyTorchIsOne) {
  Stand(2, {"torch/serialization.py:982 _save", "torch/serialization.py:640 save",
            "train.py:31 export"});
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
}

// The program trains in a thread of a pool, beside threads of its own.
TEST_F(HostPlaceTest, TheTaskThatTheMainThreadAwaitsIsTheLoop) {
  const Frames awaits = {"threading.py:320 wait", "concurrent/futures/_base.py:451 result",
                         "train.py:240 main"};
  const auto in_pool = [](Frames frames) {
    frames.push_back("concurrent/futures/thread.py:58 run");
    return frames;
  };
  const Stack flusher = {.thread = "Thread-5", .frames = {"metrics.py:41 flush"}};
  for (int task = 0; task < 4; ++task) {
    Stand(task, awaits);
    auto& stacks = s_.At(0, task).stacks;
    stacks.push_back(flusher);
    stacks.push_back({.thread = "child 7 (python): t", .frames = in_pool({"data.py:4 unpack"})});
    stacks.push_back({.thread = "train_0", .frames = in_pool(task == 2 ? kInOwn : kInCollective)});
  }
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  // Beside a task of another kind, the task in a step is the loop.
  for (const int task : {0, 1, 3}) {
    s_.At(0, task).stacks.push_back(
        {.thread = "log_0", .frames = in_pool({"metrics.py:9 upload"})});
  }
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, ThatAllWaitForLocksOfTheirOwnNamesNobody) {
  for (int task = 0; task < 4; ++task) Stand(task, kInLock);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  Stand(1, kInCollective);
  Stand(3, kInCollective);
  Stand(0, kInCollective);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, ThatAllCompileNamesNobody) {
  for (int task = 0; task < 4; ++task) Stand(task, kCompiles);
  EXPECT_EQ(Diagnose(s_), "UNKNOWN");
  for (const int task : {0, 1, 3}) Stand(task, kInCollective);
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

TEST_F(HostPlaceTest, WhomACgroupHasFrozenIsStopped) {
  s_.At(0, 2).stacks.clear();
  s_.At(0, 2).processes = {
      {.pid = 7, .state = ProcessState::kUninterruptible, .wait_channel = "__refrigerator"}};
  EXPECT_EQ(Diagnose(s_), "UNRECOVERABLE_ERROR/PROCESS_STOPPED 0.2");
  EXPECT_EQ(Activity(), "PAUSED");
}

TEST_F(HostPlaceTest, WhereCoresAreKnownTheyTell) {
  Scenario healthy;
  healthy.At(0, 2).stacks = {{.thread = "MainThread", .frames = kInLoader}};
  const std::string with = Diagnose(healthy);
  healthy.At(0, 2).stacks.clear();
  EXPECT_EQ(with, Diagnose(healthy));
}

TEST_F(HostPlaceTest, ACheckpointThatOrbaxCountsIsWhereNothingElseTells) {
  Metric begun;
  begun.source = MetricSource::kInputPipeline;
  begun.name = "jax_orbax_write_start_total";
  begun.value_milli = 1000;
  s_.At(0, 2).metrics = {begun};
  EXPECT_EQ(Activity(), "");  // its stack stands where all do
  s_.At(0, 2).stacks.clear();
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  EXPECT_EQ(Activity(), "CHECKPOINT_SAVE");
}

TEST(PlaceOfHost, AbsentWithoutStacksAndPage) { EXPECT_FALSE(PlaceOfHost(Snapshot{}).has_value()); }

// Watchdogs of their own, whose limit is shorter than the job's threshold, end all: an exit raises
// the alarm, and the stacks in the logs show who stood elsewhere.
TEST_F(HostPlaceTest, WhereWatchdogsEndedAllTheirStacksNameTheHost) {
  s_.capture.header.trigger = "exit";
  Stand(2, {"read_shard (train.py:88)", "main (train.py:131)"});
  for (int task = 0; task < 4; ++task) {
    s_.Exit(0, task, 4'000, std::nullopt);
    s_.Log(0, task, LogKind::kFollowOn, "Timeout (0:00:08)!", 4'100);
    s_.At(0, task).progress = Progress{.step = 65, .step_ms = 12'000};
  }
  EXPECT_EQ(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
  // A watchdog of one alone says nothing of the job.
  for (int task = 0; task < 3; ++task) s_.At(0, task).log_events.clear();
  EXPECT_NE(Diagnose(s_), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.2");
}

// A process that has ended stands nowhere, unless a watchdog ended it where it stood.
TEST_F(HostPlaceTest, WhomAWatchdogEndedStoodWhereItsStacksShow) {
  const auto place = [](const Scenario& s) { return PlaceOfHost(s.capture.snapshots[2]); };
  Scenario s({.slices = 1});
  Snapshot& host = s.At(0, 2);
  host.stacks = {{.thread = "MainThread", .frames = {"read (train.py:88)", "main (train.py:9)"}}};
  s.Exit(0, 2, 4'000, 1);
  EXPECT_EQ(place(s), std::nullopt);
  s.Log(0, 2, LogKind::kFollowOn, "Timeout (0:00:08)!", 4'100);
  ASSERT_TRUE(place(s).has_value());
  EXPECT_THAT(place(s)->text, HasSubstr("stands in read (train.py:88)"));
  host.processes.front().exit_code.reset();  // an agent beside the process sees no status
  EXPECT_TRUE(place(s).has_value());
  host.processes.front().exit_code = 3;
  EXPECT_EQ(place(s), std::nullopt);
  host.processes.front().exit_code = 1;
  host.log_events.front().age_ms = 60'000;  // it has lived on
  EXPECT_EQ(place(s), std::nullopt);
  host.log_events.front().age_ms = 4'100;
  s.Log(0, 2, LogKind::kUncaughtException, "ValueError: loss is not finite", 4'100);
  EXPECT_EQ(place(s), std::nullopt);  // it stood in what it does after that
  host.log_events.back().kind = LogKind::kFollowOn;
  host.log_events.back().text = "JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: [tcp/pair.cc]";
  EXPECT_EQ(place(s)->wait, HostWait::kDevice);
  EXPECT_FALSE(place(s)->by_stack);
  host.log_events.pop_back();
  EXPECT_TRUE(place(s).has_value());
  host.stacks.clear();
  EXPECT_EQ(place(s), std::nullopt);
}

}  // namespace
}  // namespace rapideye::classifier::testing
