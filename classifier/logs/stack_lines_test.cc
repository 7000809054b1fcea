#include "classifier/logs/stack_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kFaultHandler[] =
    "Timeout (0:05:00)!\n"
    "Thread 0x00007fdefefc5640 (most recent call first):\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 324 in wait\n"
    "  File \"/opt/venv/lib/python3.10/site-packages/tqdm/_monitor.py\", line 60 in run\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 1016 in _bootstrap_inner\n"
    "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n"
    "\n"
    "Thread 0x00007fe403b964c0 (most recent call first):\n"
    "  File \"/opt/venv/lib/python3.10/site-packages/jax/_src/array.py\", line 631 in _value\n"
    "  File \"/job/train.py\", line 88 in step\n"
    "  File \"/job/train.py\", line 120 in <module>\n";

constexpr char kPySpy[] =
    "Process 42: python train.py\n"
    "Python v3.10.12 (/usr/bin/python3.10)\n"
    "\n"
    "Thread 42 (idle): \"MainThread\"\n"
    "    pthread_cond_timedwait (libc.so.6)\n"
    "    wait (threading.py:302)\n"
    "    get (queue.py:170)\n"
    "    __next__ (fairseq/data/iterators.py:648)\n"
    "Thread 57 (idle): \"Thread-1\"\n"
    "    wait (threading.py:306)\n"
    "Thread 58 (idle)\n";

class StackLinesTest : public ::testing::Test {
 protected:
  void Take(const std::string& text) {
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      stacks_.Take(line, {.unix_ms = std::nullopt, .advances = ++line_});
    }
  }

  // The dump of the only process.
  LoggedStacks Dump() {
    std::vector<LoggedStacks> dumps = stacks_.Dumps();
    return dumps.size() == 1 ? std::move(dumps.front()) : LoggedStacks();
  }

  StackLines stacks_;
  int64_t line_ = 0;
};

TEST_F(StackLinesTest, TheOldestThreadOfFaultHandlerIsTheMainThread) {
  Take(kFaultHandler);
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(2));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames,
              ElementsAre("_value (jax/_src/array.py:631)", "step (/job/train.py:88)",
                          "<module> (/job/train.py:120)"));
  EXPECT_EQ(dump.threads[1].frames[1], "run (tqdm/_monitor.py:60)");
  EXPECT_EQ(dump.threads[1].frames[0], "wait (threading.py:324)");
  EXPECT_EQ(dump.at.advances, 2) << "the time of its first thread";
}

TEST_F(StackLinesTest, PySpyNamesTheMainThread) {
  Take(kPySpy);
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(2)) << "a thread without frames tells nothing";
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames,
              ElementsAre("pthread_cond_timedwait (libc.so.6)", "wait (threading.py:302)",
                          "get (queue.py:170)", "__next__ (fairseq/data/iterators.py:648)"));
}

TEST_F(StackLinesTest, TheLastDumpCounts) {
  Take(kFaultHandler);
  Take("step 10\n");
  Take(
      "Current thread 0x00007fe403b964c0 (most recent call first):\n"
      "  File \"/job/train.py\", line 92 in load\n"
      "step 11\n");
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(1));
  EXPECT_THAT(dump.threads[0].frames, ElementsAre("load (/job/train.py:92)"));
  EXPECT_EQ(dump.at.advances, 12);
}

TEST_F(StackLinesTest, ADumpThatIsCutBeforeItsMainThreadTellsNothing) {
  Take(
      "Thread 0x00007fdefefc5640 (most recent call first):\n"
      "  File \"/usr/lib/python3.10/threading.py\", line 324 in wait\n"
      "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n");
  EXPECT_THAT(Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, ProcessesBesideTheTrainingProcessAreLeftOut) {
  Take(kPySpy);
  Take(
      "Process 99: python train.py\n"
      "Thread 99 (idle): \"MainThread\"\n"
      "    poll (selectors.py:415)\n"
      "    _worker_loop (torch/utils/data/_utils/worker.py:275)\n");
  EXPECT_THAT(Dump().threads, SizeIs(2)) << "a worker of its loader";
}

TEST_F(StackLinesTest, SeveralTrainingProcessesAreToldApart) {
  Take(kPySpy);
  Take(
      "Process 43: python train.py --local_rank=1\n"
      "Thread 43 (active)\n"
      "    step (train.py:88)\n"
      "Process 42: python train.py\n"
      "Thread 42 (idle): \"MainThread\"\n"
      "    save (train.py:99)\n");
  const std::vector<LoggedStacks> dumps = stacks_.Dumps();
  ASSERT_THAT(dumps, SizeIs(2));
  EXPECT_EQ(dumps[0].pid, 42);
  EXPECT_THAT(dumps[0].threads.front().frames, ElementsAre("save (train.py:99)")) << "the later";
  EXPECT_EQ(dumps[1].pid, 43);
  EXPECT_EQ(dumps[1].rank, 1);
  EXPECT_EQ(dumps[1].threads.front().thread, "MainThread") << "it has the process's number";
}

TEST_F(StackLinesTest, ALineAboveADumpNumbersItsWorker) {
  const auto headed = [this](const std::string& heading) {
    StackLines lines;
    std::swap(lines, stacks_);
    Take(absl::StrCat(heading, "\nProcess 42: python train.py\n",
                      "Thread 42 (active): \"MainThread\"\n    step (train.py:88)\n"));
    return stacks_.Dumps().at(0).heading;
  };
  for (const char* heading : {"=== rank 3 ===", "node7:", "==> logs/worker-2.txt <==", "Rank 3",
                              "### host tpu-w-3 (us-east5)", "--- Worker 12 ---",
                              "The stack of rank 3:", "Here is worker 3's stack:"}) {
    EXPECT_EQ(headed(heading), heading);
  }
  EXPECT_THAT(headed("$ kubectl exec train-slice-0-3 -- py-spy dump --pid 1"),
              HasSubstr("train-slice-0-3"));
  for (const char* other : {"=== pid 4711 ===", "=== process 42 ===", "step 12 loss 0.3",
                            "worker 3 does not respond, dumping stacks", "===== step 10 =====",
                            "+ py-spy dump --pid 42", "rank 3: loss 0.3, rank 4:"}) {
    EXPECT_EQ(headed(other), "");
  }
}

constexpr char kFormatted[] =
    "Watchdog triggered because step has not incremented in the last 600 seconds.\n"
    "Threads:\n"
    "Thread: MainThread(140736)\n"
    ">>>   File \"/job/train.py\", line 200, in <module>\n"
    "    main()\n"
    ">>>   File \"/job/train.py\", line 120, in main\n"
    "    loss = step(batch, other_thread)\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ">>>   File \"/opt/venv/lib/python3.11/site-packages/jax/_src/array.py\", line 631, in _value\n"
    "Thread: Thread-1(140737)\n"
    ">>>   File \"/usr/lib/python3.11/threading.py\", line 973, in _bootstrap\n"
    "    self._bootstrap_inner()\n";

TEST_F(StackLinesTest, StacksThatAProgramFormatsBeginWithTheOutermostFrame) {
  Take(kFormatted);
  Take("step 11\n");
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(2));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames,
              ElementsAre("_value (jax/_src/array.py:631)", "main (/job/train.py:120)",
                          "<module> (/job/train.py:200)"));
  EXPECT_THAT(dump.threads[1].frames, ElementsAre("_bootstrap (threading.py:973)"));
}

TEST_F(StackLinesTest, TheThreadThatRunsTheProgramsFileIsTheMainThread) {
  Take(
      "# Thread 0x7f12\n"
      "File: \"/job/train.py\", line 200, in <module>\n"
      "  main()\n"
      "File: \"/job/train.py\", line 12, in load\n");
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(1));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
}

// An exception says where it was raised, a warning or an error of a graph where something was made.
TEST_F(StackLinesTest, FramesOfAnExceptionAreNoPlaceOfAThread) {
  for (const char* above : {"Traceback (most recent call last):", "Stack (most recent call last):",
                            "Original stack trace for 'node':"}) {
    Take(absl::StrCat("a thread failed\n", above, "\n",
                      "  File \"/job/train.py\", line 200, in <module>\n"
                      "    thread.join()\n"
                      "  File \"/job/train.py\", line 12, in load\n"
                      "    raise ValueError\n"));
    EXPECT_THAT(stacks_.Dumps(), IsEmpty()) << above;
  }
}

TEST_F(StackLinesTest, AThreadThatAnExceptionEndedHasItsFrames) {
  Take(
      "Exception in thread Thread-12:\n"
      "Traceback (most recent call last):\n"
      "  File \"/usr/lib/python3.7/threading.py\", line 870, in run\n"
      "    self._target(*self._args, **self._kwargs)\n"
      "  File \"/x/dist-packages/torch_xla/distributed/parallel_loader.py\", line 166, in _worker\n"
      "    batch = xm.send_cpu_data_to_device(batch, device)\n"
      "RuntimeError: bad batch\n"
      "  File \"/job/other.py\", line 1, in f\n");
  const Stack dead = stacks_.DeadThread();
  EXPECT_EQ(dead.thread, "Exception in thread Thread-12:");
  EXPECT_THAT(dead.frames, ElementsAre("_worker (torch_xla/distributed/parallel_loader.py:166)",
                                       "run (threading.py:870)"));
  EXPECT_THAT(Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, WordsOfAProgramAreNoStack) {
  EXPECT_FALSE(stacks_.Take("Process 0: loaded shard 3 (shards.py:12)", {}));
  EXPECT_FALSE(stacks_.Take("Thread 12 finished", {}));
  EXPECT_FALSE(stacks_.Take("called by (most recent call first):", {}));
  EXPECT_THAT(Dump().threads, IsEmpty());
}

TEST_F(StackLinesTest, AFloodOfThreadsAndFramesIsBounded) {
  for (size_t i = 0; i < 2 * kMaxLoggedThreads; ++i) {
    Take("Thread 7 (idle): \"MainThread\"\n");
    for (size_t frame = 0; frame < 2 * kMaxLoggedFrames; ++frame) {
      Take(absl::StrCat("    f", std::string(2 * kMaxLoggedFrameBytes, 'x'), " (a.py:1)\n"));
    }
  }
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(kMaxLoggedThreads));
  EXPECT_THAT(dump.threads[0].frames, SizeIs(kMaxLoggedFrames));
  EXPECT_THAT(dump.threads[0].frames[0], SizeIs(kMaxLoggedFrameBytes));
}

TEST_F(StackLinesTest, OfManyThreadsTheMainThreadIsKept) {
  for (size_t i = 0; i < 2 * kMaxLoggedThreads; ++i) {
    Take(
        "Thread 0x00007fdefefc5640 (most recent call first):\n"
        "  File \"/usr/lib/python3.10/threading.py\", line 973 in _bootstrap\n");
  }
  Take(
      "Thread 0x00007fe403b964c0 (most recent call first):\n"
      "  File \"/job/train.py\", line 92 in load\n");
  const LoggedStacks dump = Dump();
  ASSERT_THAT(dump.threads, SizeIs(kMaxLoggedThreads));
  EXPECT_EQ(dump.threads[0].thread, "MainThread");
  EXPECT_THAT(dump.threads[0].frames, ElementsAre("load (/job/train.py:92)"));
}

}  // namespace
}  // namespace rapideye::logs
