#include "digest/stack_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kAtBarrier = {
    "ArrayImpl._value (jax/_src/array.py:648)",
    "process_allgather (jax/experimental/multihost_utils.py:155)", "main (train.py:97)",
    "<module> (train.py:140)"};
const std::vector<std::string> kInRead = {"SocketIO.readinto (socket.py:706)",
                                          "read_shard (train.py:88)", "main (train.py:90)"};
const std::vector<std::string> kInLoader = {
    "Condition.wait (threading.py:327)", "Queue.get (queue.py:171)",
    "ThreadPrefetchDatasetIterator.__next__ "
    "(grain/_src/python/dataset/transformations/prefetch.py:512)",
    "main (train.py:90)"};

class StackGroupsTest : public testing::Test {
 protected:
  void Stand(const std::vector<std::string>& frames, const std::string& thread = "MainThread") {
    const int task = static_cast<int>(capture_.snapshots.size());
    const std::string host = absl::StrCat("host-", task);
    capture_.header.expected_workers.push_back({{0, task}, host, std::nullopt});
    Snapshot& snapshot = capture_.snapshots.emplace_back();
    snapshot.worker = {0, task};
    snapshot.host = host;
    snapshot.stacks = {{thread, frames}};
    report_.workers.push_back({{0, task}, static_cast<size_t>(task), host, true});
  }

  const std::vector<StackGroup>& Groups() {
    report_.stack_groups = GroupStacks(capture_, report_.workers, culprits_);
    return report_.stack_groups;
  }
  std::string Text() {
    Groups();
    return StackGroupsText(report_);
  }

  Capture capture_;
  std::vector<Culprit> culprits_;
  Report report_;
};

TEST_F(StackGroupsTest, TheManyWhoWaitAndTheOneWhoDoesNot) {
  for (int i = 0; i < 4; ++i) Stand(i == 2 ? kInRead : kAtBarrier);
  capture_.snapshots[2].progress = Progress{.phase = Phase::kStep, .phase_ms = 61'000};
  EXPECT_EQ(Text(),
            "3 of 4 wait in process_allgather (multihost_utils.py); host-2 stands in read_shard "
            "(train.py:88), for 61 s");
  ASSERT_THAT(Groups(), SizeIs(2));
  EXPECT_THAT(Groups()[0].workers, ElementsAre(0, 1, 3));
  EXPECT_THAT(Groups()[0].frames,
              ElementsAre("ArrayImpl._value (jax/_src/array.py)",
                          "process_allgather (jax/experimental/multihost_utils.py)",
                          "main (train.py:97)", "<module> (train.py:140)"));
  EXPECT_THAT(Groups()[1].frames, ElementsAre("read_shard (train.py:88)", "main (train.py:90)"));
}

TEST_F(StackGroupsTest, WhatLibrariesHaveInsideTellsNobodyApart) {
  Stand(kAtBarrier);
  std::vector<std::string> elsewhere = kAtBarrier;
  elsewhere[0] = "ArrayImpl._value (jax/_src/array.py:650)";
  elsewhere.insert(elsewhere.begin(), "Condition.wait (threading.py:327)");
  Stand(elsewhere);
  EXPECT_THAT(Groups(), SizeIs(1));
  elsewhere[3] = "main (train.py:120)";
  Stand(elsewhere);
  EXPECT_THAT(Groups(), SizeIs(2));
}

TEST_F(StackGroupsTest, ALoaderIsNamedByWhatTheProgramCalls) {
  Stand(kInLoader);
  Stand(kInRead);
  EXPECT_EQ(Text(),
            "host-0 stands in ThreadPrefetchDatasetIterator.__next__ (prefetch.py); "
            "host-1 stands in read_shard (train.py:88)");
}

TEST_F(StackGroupsTest, NativeFramesCountWherePythonTellsNothing) {
  Stand({"__futex_wait (libc.so.6)", "? (libtpu.so)", "xla::Await (libtpu.so)",
         "PyObject_Call (python3.11)"},
        "main (python3)");
  capture_.snapshots[0].stacks.push_back({"child 40 (python3): MainThread", kInRead});
  ASSERT_THAT(Groups(), SizeIs(1));
  EXPECT_THAT(Groups()[0].frames, ElementsAre("xla::Await (libtpu.so)"));
  capture_.snapshots[0].stacks.push_back({"MainThread", kInRead});
  EXPECT_THAT(Groups()[0].at, "read_shard (train.py:88)");
}

TEST_F(StackGroupsTest, TheKernelAndChildrenAloneAreInNone) {
  Stand({"futex_wait_queue (kernel)", "system call futex"}, "main (python3)");
  Stand(kInRead, "child 40 (python3): MainThread");
  EXPECT_THAT(Groups(), IsEmpty());
  EXPECT_EQ(Text(), "");
}

TEST_F(StackGroupsTest, ForHowLongIsSaidOnlyIfItHoldsForAll) {
  Stand(kAtBarrier);
  Stand(kAtBarrier);
  capture_.snapshots[0].progress = Progress{.phase = Phase::kStep, .phase_ms = 9'000};
  EXPECT_EQ(Groups()[0].since_ms, std::nullopt);
  capture_.snapshots[1].progress = Progress{.phase = Phase::kStep, .phase_ms = 7'000};
  EXPECT_EQ(Groups()[0].since_ms, 7'000);
}

TEST_F(StackGroupsTest, IsBoundedAndShowsCulprits) {
  for (int i = 0; i < 100; ++i) {
    Stand({absl::StrCat("f", i, std::string(1000, 'x'), "\n (train.py:", i, ")")});
  }
  culprits_.emplace_back().worker = {0, 99};
  EXPECT_THAT(Groups(), SizeIs(64));
  EXPECT_THAT(Text(), HasSubstr("host-99 stands in f99x"));
  EXPECT_THAT(Text(), HasSubstr("… and 58 more places"));
  EXPECT_LE(Text().size(), text::kMaxLineBytes);
  EXPECT_EQ(Text().find('\n'), std::string::npos);
}

TEST_F(StackGroupsTest, ManyHostsAreFolded) {
  for (int i = 0; i < 50; ++i) Stand(i < 30 ? kAtBarrier : kInRead);
  EXPECT_EQ(Text(),
            "30 of 50 wait in process_allgather (multihost_utils.py); 20 of 50 (host-[30-49] "
            "(20)) stand in read_shard (train.py:88)");
}

}  // namespace
}  // namespace rapideye::digest
