#include "classifier/logs/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "KIND text" of each event of a log.
std::vector<std::string> Events(absl::string_view log, LogContext& context) {
  std::vector<std::string> events;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    context.Take(line, {}, [&](const LogLine& found) {
      EXPECT_FALSE(found.key.empty());
      events.push_back(absl::StrCat(std::string(NameOf(found.event.kind)), " ", found.event.text));
    });
  }
  return events;
}

std::vector<std::string> Events(absl::string_view log) {
  LogContext context;
  return Events(log, context);
}

constexpr char kOwn[] = R"(completed step: 10, seconds: 0.229
Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
  File "/job/train.py", line 147, in main
    raise ValueError("Core halted unexpectedly")
ValueError: loss is not finite
)";

TEST(LogContextTest, AnExceptionThatEndsTheProgramIsOne) {
  EXPECT_THAT(Events(kOwn), ElementsAre("UNCAUGHT_EXCEPTION ValueError: loss is not finite"));
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "<frozen runpy>", line 88, in _run_code
  File "/job/train.py", line 9, in <module>
    main()
AssertionError
)"),
              ElementsAre("UNCAUGHT_EXCEPTION AssertionError"));
}

// A bar leaves its line open.
TEST(LogContextTest, AnExceptionBehindAProgressBarIsOne) {
  for (const char* bar : {"train:   1%|#   | 69/10000 [00:10<03:10,  5.02it/s, loss=5.5]",
                          "69it [00:10]", " 69% (69/100)", "loss 5.5 |"}) {
    EXPECT_THAT(Events(absl::StrCat(bar, absl::string_view(kOwn).substr(35))),
                ElementsAre("UNCAUGHT_EXCEPTION ValueError: loss is not finite"))
        << bar;
  }
  // A text that quotes one.
  EXPECT_THAT(Events(absl::StrCat("{\"message\": \"", absl::string_view(kOwn).substr(35))),
              testing::Not(testing::Contains(testing::StartsWith("UNCAUGHT_EXCEPTION"))));
}

TEST(LogContextTest, OneThatIsHandledOrOfAThreadIsNone) {
  // logging.exception: the traceback begins at the handler.
  EXPECT_THAT(Events(R"(ERROR:root:retrying
Traceback (most recent call last):
  File "/job/data.py", line 12, in read_shard
    fetch()
ValueError: bad shard
)"),
              IsEmpty());
  EXPECT_THAT(Events(R"(Exception in thread Thread-3 (prefetch):
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1038, in _bootstrap_inner
    self.run()
KeyError: 3
)"),
              IsEmpty());
  // A traceback of a helper process that Python has started.
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/usr/lib/python3.11/multiprocessing/spawn.py", line 122, in spawn_main
    exitcode = _main(fd, parent_sentinel)
EOFError: Ran out of input
)"),
              IsEmpty());
}

TEST(LogContextTest, WhoeverIsToldToEndRaisesNothing) {
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
KeyboardInterrupt
)"),
              IsEmpty());
}

TEST(LogContextTest, WhatTellsThatAPeerIsGoneFollows) {
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-reduce failed: [pair.cc:547] Connection closed by peer
)"),
              ElementsAre(testing::StartsWith("FOLLOW_ON jax.errors.JaxRuntimeError")));
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
jax.errors.JaxRuntimeError: DEADLINE_EXCEEDED: somebody did not come
)"),
              IsEmpty());
}

TEST(LogContextTest, WhatIsRaisedBecauseOfItFollowsToo) {
  constexpr char kChain[] = R"(Traceback (most recent call last):
  File "/job/train.py", line 40, in train
    loss = float(loss)
jax.errors.JaxRuntimeError: UNKNOWN: Gloo all-gather failed: [pair.cc:547] Timed out
The above exception was the direct cause of the following exception:
Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
RuntimeError: training failed
)";
  EXPECT_THAT(Events(kChain), ElementsAre(testing::StartsWith("FOLLOW_ON")));
  // A second case: another traceback follows, which is no part of the chain.
  EXPECT_THAT(Events(absl::StrCat(kChain, kOwn)), SizeIs(2));
}

TEST(LogContextTest, SomethingMoreSpecificIsWhatItIs) {
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
    main()
jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12 bytes
)"),
              ElementsAre(testing::StartsWith("OUT_OF_MEMORY")));
}

TEST(LogContextTest, OtherThreadsMayWriteInBetween) {
  EXPECT_THAT(
      Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
E1122 11:32:02.386901   12224 a.cc:1] Core halted unexpectedly
    main()
completed step: 11, seconds: 0.2
loss: 0.5
ValueError: x
)"),
      ElementsAre("CORE_HALT E1122 11:32:02.386901   12224 a.cc:1] Core halted unexpectedly",
                  "UNCAUGHT_EXCEPTION ValueError: x"));
}

TEST(LogContextTest, ATracebackThatNeverEndsIsLeft) {
  LogContext context;
  std::string log = "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n";
  for (int i = 0; i <= kMaxStrangeTracebackLines; ++i) absl::StrAppend(&log, "step ", i, "\n");
  EXPECT_THAT(Events(log, context), IsEmpty());
  EXPECT_THAT(Events("Config: x\n", context), IsEmpty());
}

TEST(LogContextTest, TasksThatABarrierNamesStandInOneEvent) {
  constexpr char kLog[] =
      R"(E1122 11:32:02.386901   12224 coordination_service.cc:1520] [146] Shutdown barrier in coordination service has failed:
DEADLINE_EXCEEDED: Barrier timed out. Id: Shutdown::146::0. This usually happens because a task triggered the barrier too early or too slowly.
# of tasks that reached the barrier: 1/4.
The first task at the barrier: 2. Some timed out task names:
0
/job:jax_worker/replica:0/task:3
 [type.googleapis.com/tensorflow.BarrierError='Shutdown::146']
)";
  const std::vector<std::string> events = Events(kLog);
  ASSERT_THAT(events, SizeIs(5));
  EXPECT_EQ(events[4],
            "COORDINATION_TIMEOUT Barrier timed out. Id: Shutdown::146::0. # of tasks that reached "
            "the barrier: 1/4. The first task at the barrier: 2. Some timed out task names: 0, 3");
}

TEST(LogContextTest, OlderReleasesNameAllTasksOfABarrier) {
  constexpr char kLog[] =
      R"(DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out task names:
/job:jax_worker/replica:0/task:3
/job:jax_worker/replica:0/task:1

Additional GRPC error information
)";
  EXPECT_THAT(Events(kLog),
              testing::Contains("COORDINATION_TIMEOUT Barrier timed out. Id: PjRT_Client_Connect. "
                                "Timed out task names: 3, 1"));
}

TEST(LogContextTest, TasksWithoutHeartbeatsToo) {
  EXPECT_THAT(Events(R"(UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
2
The tasks have crashed.
)"),
              ElementsAre(testing::StartsWith("FOLLOW_ON"),
                          "MISSED_HEALTH_CHECKS The following tasks are unhealthy (stopped "
                          "sending heartbeats): 2"));
  // A number alone is no task.
  EXPECT_THAT(Events("2\n3\nstep 4\n"), IsEmpty());
}

std::vector<std::vector<int32_t>> Tasks(absl::string_view log) {
  LogContext context;
  std::vector<std::vector<int32_t>> tasks;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    context.Take(line, {}, [&](const LogLine& found) { tasks.push_back(found.event.peer_tasks); });
  }
  return tasks;
}

TEST(LogContextTest, TasksBecomeNumbersWhereverTheyStand) {
  const std::vector<int32_t> none;
  EXPECT_THAT(Tasks("tasks are unhealthy (stopped sending heartbeats):\n"
                    "/job:jax_worker/replica:0/task:8\n3\nThe tasks have crashed.\n"),
              ElementsAre(none, std::vector{3, 8}));
  // Names on the line itself, also where a record of several lines was written as one.
  EXPECT_THAT(Tasks("tasks are unhealthy (stopped sending heartbeats): "
                    "/job:w/replica:0/task:0\nstep 4\n"),
              ElementsAre(none, std::vector{0}));
  EXPECT_THAT(Tasks("tasks are unhealthy (stopped sending heartbeats):\\n/job:w/replica:0/task:2"
                    "\\n/job:w/replica:0/task:1\\nThe tasks have crashed.\nstep 4\n"),
              ElementsAre(none, std::vector{1, 2}));
  // A launcher puts its rank or the time before each line.
  EXPECT_THAT(Tasks("0: UNAVAILABLE: The following tasks are unhealthy (stopped sending "
                    "heartbeats):\n0: 7\n0: /job:w/replica:0/task:2\n0: step 4\n"),
              ElementsAre(none, std::vector{2, 7}));
  EXPECT_THAT(Tasks("2026-11-22T11:32:02.389Z tasks are unhealthy (stopped sending heartbeats):\n"
                    "2026-11-22T11:32:03.000Z 3\nstep 4\n"),
              ElementsAre(none, std::vector{3}));
  // Names of a list whose beginning is lost; a number alone is no task.
  EXPECT_THAT(Events("/job:jax_worker/replica:0/task:6\n7\n"),
              ElementsAre("MISSED_HEALTH_CHECKS /job:jax_worker/replica:0/task:6"));
}

TEST(LogContextTest, WhoHadNotConnectedIsToldAsTheRegistrationFails) {
  constexpr char kWaiting[] =
      "Waiting for 2/8 tasks to connect.\nExample stragglers:\n"
      "/job:jax_worker/replica:0/task:3\n/job:jax_worker/replica:0/task:5\nstep 1\n";
  EXPECT_THAT(Events(kWaiting), IsEmpty());
  EXPECT_THAT(Events(absl::StrCat(kWaiting,
                                  "Stopping coordination service as cluster registration failed. "
                                  "This may be due to 1) some tasks crashed earlier\n")),
              testing::Contains(testing::EndsWith("Not connected: 3, 5")));
}

TEST(LogContextTest, ATracebackMayHaveThePrefixOfItsRank) {
  EXPECT_THAT(Events(R"([rank3]: Traceback (most recent call last):
[rank3]:   File "/job/train.py", line 181, in <module>
[rank1]: Core halted unexpectedly
[rank3]:     raise ValueError("Barrier timed out")
[rank3]: ValueError: loss is not finite
)"),
              ElementsAre("CORE_HALT [rank1]: Core halted unexpectedly",
                          "UNCAUGHT_EXCEPTION ValueError: loss is not finite"));
  // The time in the prefix changes from line to line.
  EXPECT_THAT(Events(R"(ERROR 02-10 18:47:53 [core.py:982] Traceback (most recent call last):
ERROR 02-10 18:47:54 [core.py:982]   File "/job/train.py", line 181, in <module>
ERROR 02-10 18:47:54 [core.py:982] KeyError: 3
)"),
              ElementsAre("UNCAUGHT_EXCEPTION KeyError: 3"));
}

TEST(LogContextTest, AMessageMayStandBeforeATraceback) {
  // Its lines have the prefix of the message, or none.
  EXPECT_THAT(
      Events(
          R"(ERROR 04-16 11:53:49 [core.py:387] EngineCore hit an exception: Traceback (most recent call last):
ERROR 04-16 11:53:50 [core.py:387]   File "/vllm/core.py", line 380, in run_engine_core
ERROR 04-16 11:53:50 [core.py:387]     engine_core.run_busy_loop()
ERROR 04-16 11:53:50 [core.py:387] torch.OutOfMemoryError: CUDA out of memory
)"),
      ElementsAre(testing::StartsWith("PROGRAM_REJECTED ERROR 04-16"),
                  testing::StartsWith("OUT_OF_MEMORY torch")));
  EXPECT_THAT(
      Events(
          R"([2025-08-08 10:12:01 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/sglang/scheduler.py", line 2647, in <module>
    scheduler.event_loop_overlap()  # Core halted unexpectedly
KeyError: 3
)"),
      ElementsAre(testing::StartsWith("PROGRAM_REJECTED [2025"), "UNCAUGHT_EXCEPTION KeyError: 3"));
  // Another thread's line with a part of the prefix changes nothing.
  EXPECT_THAT(Events(R"([rank3]: Traceback (most recent call last):
[rank1]: step 5
[rank3]:   File "/job/train.py", line 181, in <module>
[rank3]: KeyError: 3
)"),
              ElementsAre("UNCAUGHT_EXCEPTION KeyError: 3"));
}

TEST(LogContextTest, AReasonStandsBesideTheEndThatItBrought) {
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
RuntimeError: TPU initialization failed: open(/dev/vfio/0): Device or resource busy
)"),
              ElementsAre(testing::StartsWith("DEVICE_UNAVAILABLE RuntimeError"),
                          testing::StartsWith("UNCAUGHT_EXCEPTION RuntimeError")));
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
OSError: [Errno 5] Input/output error
)"),
              ElementsAre(testing::StartsWith("HUNG_TASK OSError"),
                          testing::StartsWith("UNCAUGHT_EXCEPTION OSError")));
  // A process that waits in a collective is no culprit.
  EXPECT_THAT(Events(R"(Traceback (most recent call last):
  File "/job/train.py", line 181, in <module>
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, remote error
)"),
              ElementsAre(testing::StartsWith("COLLECTIVE_STUCK")));
}

TEST(LogContextTest, ListsAreBounded) {
  std::string log = "tasks are unhealthy (stopped sending heartbeats):\n";
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&log, i, "\n");
  const std::vector<std::string> events = Events(log + "end\n");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_LE(events[1].size(), kMaxLogTextBytes);
}

}  // namespace
}  // namespace rapideye::logs
