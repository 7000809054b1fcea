#include "classifier/logs/store_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/job_log_texts.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The line of a rank that waits, as PyTorch 1.13 writes it.
std::string Waits(int rank, int size, int came,
                  const std::string& key = "store_based_barrier_key:1") {
  return absl::StrCat(
      "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize "
      "process "
      "group for rank: ",
      rank, ", key: ", key, " (world_size=", size, ", worker_count=", came, ", timeout=0:30:00)\n");
}

std::string GivesUp(int rank, int size, int came) {
  return absl::StrCat(
      "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    "
      "dist.init_process_group(\"gloo\")\nRuntimeError: Timed out initializing process group in "
      "store based barrier on rank: ",
      rank, ", for key: store_based_barrier_key:1 (world_size=", size, ", worker_count=", came,
      ", timeout=0:30:00)\n");
}

StoreBarrier ReadLines(const std::vector<std::string>& lines) {
  std::optional<StoreBarrier> barrier;
  for (const std::string& line : lines) {
    const std::optional<StoreBarrier> read = StoreBarrierIn(line, {});
    if (!read) continue;
    if (barrier) {
      barrier->Add(*read);
    } else {
      barrier = read;
    }
  }
  return barrier.value_or(StoreBarrier{});
}

TEST(StoreBarrierTest, WhoIsNotAmongAllWhoCameIsMissing) {
  EXPECT_THAT(ReadLines({Waits(0, 4, 1), Waits(3, 4, 3), Waits(1, 4, 3)}).Missing(),
              ElementsAre(2));
}

TEST(StoreBarrierTest, NewerReleasesCountThoseWhoJoined) {
  const std::optional<StoreBarrier> barrier = StoreBarrierIn(
      "torch.distributed.DistStoreError: Timed out initializing process group in store based "
      "barrier on rank 1, for key: store_based_barrier_key:2 (world_size=3, num_workers_joined=1, "
      "timeout=0:30:00 error=wait timeout)",
      {});
  ASSERT_TRUE(barrier.has_value());
  EXPECT_EQ(barrier->key, "store_based_barrier_key:2");
  EXPECT_THAT(barrier->Missing(), ElementsAre(0, 2));
}

TEST(StoreBarrierTest, NobodyIsMissingWhereTheCountDiffers) {
  // Another rank has come that says nothing.
  EXPECT_THAT(ReadLines({Waits(0, 4, 3), Waits(1, 4, 3)}).Missing(), IsEmpty());
  // Ranks of an earlier try have counted, too.
  EXPECT_THAT(ReadLines({Waits(0, 2, 3), Waits(1, 2, 3)}).Missing(), IsEmpty());
  EXPECT_THAT(ReadLines({Waits(0, 2, 2), Waits(1, 2, 2)}).Missing(), IsEmpty());
  EXPECT_THAT(ReadLines({Waits(9, 2, 1)}).waiting, IsEmpty()) << "no rank of the job";
}

TEST(StoreBarrierTest, OtherLinesTellOfNone) {
  EXPECT_FALSE(
      StoreBarrierIn("INFO:root:Added key: store_based_barrier_key:1 to store for rank: 5", {}));
  EXPECT_FALSE(StoreBarrierIn(Waits(0, 999'999, 1), {}));
  EXPECT_FALSE(StoreBarrierIn("Rank 0: Completed store-based barrier for 4 nodes.", {}));
}

Verdict DiagnoseOneLog(const std::string& text) {
  const JobEvidence evidence = Read({{"train.log", text}});
  return ClassifyLogs(evidence.capture, evidence.logs);
}

TEST(StoreBarrierTest, WhoHasNotComeIsNamed) {
  const std::string waits0 = Waits(0, 4, 3) + Waits(0, 4, 3);
  const std::string others = Waits(1, 4, 3) + Waits(3, 4, 3);
  for (const Verdict& verdict :
       {DiagnoseOneLog(waits0 + others), Diagnose({waits0, Waits(1, 4, 3), "", Waits(3, 4, 3)})}) {
    EXPECT_EQ(verdict.detail, Detail::kNotStarted);
    EXPECT_THAT(Named(verdict), ElementsAre(2));
  }
  // Each has given up.
  const Verdict gave_up = DiagnoseOneLog(GivesUp(0, 4, 3) + GivesUp(1, 4, 3) + GivesUp(3, 4, 3));
  EXPECT_EQ(gave_up.detail, Detail::kNotStarted);
  EXPECT_THAT(Named(gave_up), ElementsAre(2));
  EXPECT_EQ(DiagnoseOneLog(waits0 + Waits(1, 4, 3)).cause, Cause::kUnknown);
  // The last has come meanwhile.
  EXPECT_NE(DiagnoseOneLog(waits0 + others + kHealth).detail, Detail::kNotStarted);
  EXPECT_NE(DiagnoseOneLog(waits0 + others + "Loading the tokenizer\n").detail,
            Detail::kNotStarted);
}

// One log of many, or one of an earlier try, does not tell who else has come.
TEST(StoreBarrierTest, WhoGaveUpAccusesNobodyByThatAlone) {
  EXPECT_NE(DiagnoseOneLog(GivesUp(7, 8, 4)).detail, Detail::kNotStarted);
  EXPECT_NE(DiagnoseOneLog(GivesUp(0, 3, 2) + GivesUp(1, 3, 2) + kHealth).detail,
            Detail::kNotStarted);
}

}  // namespace
}  // namespace rapideye::logs
