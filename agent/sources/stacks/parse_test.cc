#include "agent/sources/stacks/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "absl/strings/str_cat.h"
#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kEuStack[] = R"(PID 2508 - process
TID 2508:
#0  0x00007f75ac67d503 clock_nanosleep@GLIBC_2.2.5 - /usr/lib/x86_64-linux-gnu/libc.so.6
#1  0x00000000005d64b4 - /usr/bin/python3.11
#2  0x0000000000545963 - /usr/bin/python3.11
#3  0x000000000053acbc PyObject_Vectorcall - /usr/bin/python3.11
#4  0x000000000053acbc xla::operator - (int) const - /opt/libtpu.so
TID 2511:
#0  0x00007f75ac67d503 futex_wait
#1  0x00007f75ac67d503
#2  0x00007ffd12345678 - [vdso]
)";

TEST(EuStackTest, NamesFunctionsAndLibraries) {
  const std::vector<ThreadStack> threads = ParseEuStack(kEuStack);
  ASSERT_THAT(threads, SizeIs(2));
  EXPECT_EQ(threads[0].tid, 2508);
  EXPECT_THAT(threads[0].frames, ElementsAre("clock_nanosleep (libc.so.6)", "? (python3.11)",
                                             "PyObject_Vectorcall (python3.11)",
                                             "xla::operator - (int) const (libtpu.so)"));
  EXPECT_EQ(threads[1].tid, 2511);
  EXPECT_THAT(threads[1].frames, ElementsAre("futex_wait", "? ([vdso])"));
}

TEST(EuStackTest, TakesWhatWasCutAsFarAsItGoes) {
  const std::string whole(kEuStack);
  for (size_t size = 0; size <= whole.size(); ++size) {
    EXPECT_LE(ParseEuStack(whole.substr(0, size)).size(), 2u);
  }
  EXPECT_THAT(
      ParseEuStack("#0 0x1 lost\nTID x:\nTID -4:\nTID 7:\n\n#0 nothing\n"),
      ElementsAre(AllOf(Field(&ThreadStack::tid, 7), Field(&ThreadStack::frames, IsEmpty()))));
}

TEST(EuStackTest, IsBounded) {
  std::string text = "TID 1:\n";
  for (size_t i = 0; i < kMaxStackFrames + 1; ++i) absl::StrAppend(&text, "#1 0x1 f", i, "\n");
  absl::StrAppend(&text, "TID 2:\n#0 0x1 ", std::string(kMaxStackFrameBytes + 1, 'x'), "\n");
  const std::vector<ThreadStack> threads = ParseEuStack(text);
  ASSERT_THAT(threads, SizeIs(2));
  EXPECT_THAT(threads[0].frames, SizeIs(kMaxStackFrames));
  EXPECT_THAT(threads[1].frames, ElementsAre(std::string(kMaxStackFrameBytes, 'x')));
}

constexpr char kPySpy[] = R"([
  {"pid": 12, "thread_id": 1, "thread_name": "loader-0", "os_thread_id": 15, "active": false,
   "owns_gil": false, "frames": [
     {"name": "wait", "filename": "/usr/lib/python3.11/threading.py", "module": null,
      "short_filename": "threading.py", "line": 320, "locals": null}]},
  {"pid": 12, "thread_name": "MainThread", "os_thread_id": 12, "active": true, "frames": [
     {"name": "get", "filename": "/usr/lib/python3.11/queue.py", "short_filename": "queue.py",
      "line": 180, "locals": [{"name": "token", "repr": "secret"}]},
     {"name": "<module>", "filename": "train.py", "line": 340}]}])";

TEST(PySpyTest, NamesFilesLinesAndFunctionsOnly) {
  const auto threads = ParsePySpy(kPySpy);
  ASSERT_TRUE(threads.ok()) << threads.status();
  ASSERT_THAT(*threads, SizeIs(2));
  EXPECT_EQ((*threads)[0].name, "loader-0");
  EXPECT_EQ((*threads)[1].tid, 12);
  EXPECT_THAT((*threads)[1].frames, ElementsAre("get (queue.py:180)", "<module> (train.py:340)"));
}

TEST(PySpyTest, NamesThePackageOfAnInstalledFile) {
  const auto threads = ParsePySpy(R"([{"frames": [{"name": "save", "line": 9, "filename":
      "/v/lib/python3.11/site-packages/orbax/checkpoint/_src/multihost/multihost.py",
      "short_filename": "multihost.py"}]}])");
  ASSERT_TRUE(threads.ok()) << threads.status();
  EXPECT_THAT((*threads)[0].frames,
              ElementsAre("save (orbax/checkpoint/_src/multihost/multihost.py:9)"));
}

TEST(PySpyTest, RefusesWhatIsNoDump) {
  EXPECT_TRUE(ParsePySpy("[]").ok());
  EXPECT_TRUE(ParsePySpy(R"([{"frames": [1, {"name": 2}]}])").ok());
  EXPECT_THAT(ParsePySpy("{}").status().message(), HasSubstr("no JSON array"));
  EXPECT_FALSE(ParsePySpy("").ok());
  EXPECT_THAT(ParsePySpy(R"([{"frames": []}, {"frames": {}}])").status().message(),
              HasSubstr("thread 1 has no list of frames"));
  EXPECT_FALSE(ParsePySpy("[7]").ok());
}

TEST(KernelStackTest, TellsWhatIsWaitedFor) {
  EXPECT_THAT(
      ParseKernelStack("[<0>] futex_wait_queue+0x6d/0xc0\n[<0>] do_futex+0x1/0x2\nnonsense\n",
                       "futex_wait_queue", "-1 0x0 0x0"),
      ElementsAre("futex_wait_queue (kernel)", "do_futex (kernel)"));
  EXPECT_THAT(ParseKernelStack("", "hrtimer_nanosleep\n", "running"),
              ElementsAre("hrtimer_nanosleep (kernel)"));
  EXPECT_THAT(ParseKernelStack("", "0", "999 0xdead 0xbeef"), ElementsAre("system call 999"));
  EXPECT_THAT(ParseKernelStack("", "", ""), IsEmpty());
  EXPECT_THAT(ParseKernelStack("", "", absl::StrCat(SYS_futex, " 0x7f 0x0")),
              ElementsAre("system call futex"));
#if defined(__x86_64__)
  EXPECT_THAT(ParseKernelStack("", "", "0 0x3"), ElementsAre("system call read"));
  EXPECT_THAT(ParseKernelStack("", "", "202 0x7f 0x0"), ElementsAre("system call futex"));
  EXPECT_THAT(ParseKernelStack("", "", "232 0x4"), ElementsAre("system call epoll_wait"));
#endif
}

TEST(SelectStacksTest, TheMostTellingComeFirst) {
  const std::vector<Stack> stacks =
      SelectStacks(12, {{15, "loader-0", {"a.py:1 f"}}, {12, "MainThread", {"train.py:3 main"}}},
                   {{13, "pool", {"wait"}},
                    {14, "pool", {"wait"}},
                    {16, "transfer", {"recv", "copy"}},
                    {17, "empty", {}},
                    {12, "python3", {"poll (libc.so.6)"}}});
  ASSERT_THAT(stacks, SizeIs(5));
  EXPECT_EQ(stacks[0].thread, "MainThread");
  EXPECT_THAT(stacks[0].frames, ElementsAre("train.py:3 main"));
  EXPECT_EQ(stacks[1].thread, "main (python3)");
  EXPECT_EQ(stacks[2].thread, "loader-0");
  EXPECT_EQ(stacks[3].thread, "transfer");
  EXPECT_EQ(stacks[4].thread, "pool and 1 more");
}

TEST(SelectStacksTest, ChildrenAreToldFromTheProcess) {
  const std::vector<ThreadStack> loader = {{40, "MainThread", {"put (queue.py:1)"}},
                                           {45, "", {"poll (x.py:2)"}}};
  std::vector<ThreadStack> other = loader;
  other[0].tid = 41;
  const ThreadStack tracker = {
      39, "MainThread", {"main (multiprocessing/resource_tracker.py:197)"}};
  const std::vector<Stack> stacks = SelectStacks(
      12, {{12, "MainThread", {"main (train.py:3)"}}, {15, "saver", {"wait (a.py:1)"}}}, {},
      {{39, "python3", {tracker}}, {40, "python3", loader}, {41, "python3", other}});
  ASSERT_THAT(stacks, SizeIs(4));
  EXPECT_EQ(stacks[0].thread, "MainThread");
  EXPECT_EQ(stacks[1].thread, "child 40 (python3): MainThread and 1 more");
  EXPECT_EQ(stacks[2].thread, "saver");
  EXPECT_EQ(stacks[3].thread, "child 40 (python3): Python thread and 1 more");
}

TEST(SelectStacksTest, StaysWithinASnapshot) {
  std::vector<ThreadStack> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back({i + 2, "t", {absl::StrCat("f", i)}});
  }
  EXPECT_THAT(SelectStacks(1, {}, many), SizeIs(kMaxStacks));
  for (ThreadStack& thread : many) {
    thread.frames.resize(kMaxStackFrames, std::string(kMaxStackFrameBytes, 'x'));
  }
  size_t bytes = 0;
  const std::vector<Stack> stacks = SelectStacks(1, {}, many);
  EXPECT_THAT(stacks, Not(IsEmpty()));
  for (const Stack& stack : stacks) {
    for (const std::string& frame : stack.frames) bytes += frame.size();
  }
  EXPECT_LE(bytes, kMaxStackBytes);
  EXPECT_THAT(SelectStacks(1, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
