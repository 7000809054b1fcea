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

TEST(LogContextTest, OneThatIsHandledOrOfAThreadIsNone) {
  // logging.exception: it begins where it was handled.
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
  // A helper that was started by Python.
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
  // Its twin: a traceback of its own after it.
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
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[2],
            "COORDINATION_TIMEOUT Barrier timed out. Id: Shutdown::146::0. # of tasks that reached "
            "the barrier: 1/4. The first task at the barrier: 2. Some timed out task names: 0, 3");
}

TEST(LogContextTest, TasksWithoutHeartbeatsToo) {
  EXPECT_THAT(Events(R"(UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
2
The tasks have crashed.
)"),
              ElementsAre(testing::StartsWith("FOLLOW_ON"),
                          "MISSED_HEALTH_CHECKS The following tasks are unhealthy (stopped "
                          "sending heartbeats): 2"));
  // A number alone is nothing.
  EXPECT_THAT(Events("2\n3\nstep 4\n"), IsEmpty());
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
