#include "classifier/logs/section_heading.h"

#include <gtest/gtest.h>

namespace rapideye::logs {
namespace {

TEST(SectionHeadingTest, NamesAFileOrAWorker) {
  EXPECT_EQ(SectionName("==> logs/rank-2.log <=="), "logs/rank-2.log");
  EXPECT_EQ(SectionName("=== rank 3 ==="), "rank 3");
  EXPECT_EQ(SectionName("----- Worker 12 -----"), "Worker 12");
  EXPECT_EQ(SectionName("# host-2"), "host-2");
  EXPECT_EQ(SectionName("### tpu-host-3 (us-east5)"), "tpu-host-3");
  EXPECT_EQ(SectionName("Rank 2:"), "Rank 2");
  EXPECT_EQ(SectionName("=== logs of worker-1 ==="), "worker-1");
  EXPECT_EQ(SectionName("Pod train-0-3-x2k2q:"), "Pod train-0-3-x2k2q");
}

TEST(SectionHeadingTest, TheNameOfAWorkerIsOneWord) {
  EXPECT_EQ(NameInHeading("=== rank 3 ==="), "rank-3");
  EXPECT_EQ(NameInHeading("The stack of Rank 3:"), "rank-3");
  EXPECT_EQ(NameInHeading("The stack for rank0:"), "rank0");
  EXPECT_EQ(NameInHeading("node7:"), "node7");
  EXPECT_EQ(NameInHeading("==> logs/worker-2.txt <=="), "logs/worker-2.txt");
  EXPECT_EQ(NameInHeading("$ kubectl exec train-0-3 -- py-spy dump"), "train-0-3");
  EXPECT_EQ(NameInHeading("--- slice 1, worker 3 ---"), "slice-1-worker-3");
  EXPECT_EQ(NameInHeading("=== 3 ==="), "3");
}

TEST(SectionHeadingTest, LinesThatSayMoreAreNoHeadings) {
  for (const char* line :
       {"=== worker 3 started ===", "===== step 10 =====", "--- epoch 3 ---", "rank 2",
        "Rank 2: ok", "==> loading <==", "worker 3 does not respond:", "# compiled for 4 hosts", "",
        "---", "====", "2026-11-20 10:00:00 rank 2:", "Traceback (most recent call last):"}) {
    EXPECT_EQ(SectionName(line), "") << line;
  }
}

TEST(SectionHeadingTest, AFileOfSectionsBeginsWithOne) {
  EXPECT_TRUE(HasSections({"=== rank 0 ===", "step 1", "=== rank 1 ===", "step 1"}));
  EXPECT_TRUE(HasSections({"==> rank-0.log <==", "step 1", "step 2"}));
  // Processes that share a log say hello.
  EXPECT_FALSE(HasSections({"=== rank 0 ===", "=== rank 1 ===", "step 1", "step 1"}));
  EXPECT_FALSE(HasSections({"launching", "=== rank 0 ===", "step 1"}));
  EXPECT_FALSE(
      HasSections({"=== rank 0 ===", "Process 42: python train.py", "Thread 42 (active)"}));
  EXPECT_FALSE(HasSections({}));
}

}  // namespace
}  // namespace rapideye::logs
