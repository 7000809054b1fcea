#include "classifier/logs/watchdog_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/support/job_log_texts.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The line of rank R on the time-out of collective N, as PyTorch 2.6 prints it.
std::string TimedOut(int rank, int number, const std::string& operation, int elements = 1024) {
  return absl::StrReplaceAll(
      "[E629 07:12:01.10 ProcessGroupNCCL.cpp:616] [Rank $R] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum=$N, OpType=$O, NumelIn=$E, NumelOut=$E, Timeout(ms)=600000) ran "
      "for 600041 milliseconds before timing out.\n",
      {{"$R", absl::StrCat(rank)},
       {"$N", absl::StrCat(number)},
       {"$O", operation},
       {"$E", absl::StrCat(elements)}});
}

std::string Status(int rank, int number, int queued) {
  return absl::StrCat(
      "[E629 07:12:01.20 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) ", "Rank ", rank,
      "] Exception (either an error or timeout) detected by watchdog at work: ", number,
      ", last enqueued NCCL work: ", queued, ", last completed NCCL work: ", number - 1, ".\n");
}

std::string WaitsIn(int rank, int number, const std::string& operation, int elements = 1024) {
  return absl::StrCat(kHealth, TimedOut(rank, number, operation, elements),
                      Status(rank, number, number + 2));
}

// The other ranks' time-out reached a rank that waits for nothing.
std::string Dumps(int rank, int queued) {
  return absl::StrCat(
      "[E629 07:12:02.00 ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID 0(default_pg) ", "Rank ", rank,
      "] Received a dump signal due to a collective timeout from rank 0 and we will ",
      "try our best to dump the debug info. Last enqueued NCCL work: ", queued,
      ", last completed NCCL work: ", queued, ".\n");
}

std::vector<NumberedCollective> ReadLines(const std::string& text) {
  WatchdogLines lines;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) lines.Take(line);
  return lines.Finish();
}

TEST(WatchdogLinesTest, TwoLinesTellOfOneCollective) {
  const NumberedCollective expected = {.group = "0(default_pg)",
                                       .number = 808,
                                       .operation = "ALLREDUCE",
                                       .elements = 9801523,
                                       .last_queued = 811};
  const std::string timed_out = TimedOut(3, 808, "ALLREDUCE", 9801523);
  const std::string status = Status(3, 808, 811);
  EXPECT_THAT(ReadLines(timed_out + status), ElementsAre(expected));
  EXPECT_THAT(ReadLines(status + timed_out), ElementsAre(expected));
}

TEST(WatchdogLinesTest, OlderReleasesTellLess) {
  const NumberedCollective without_group = {.number = 64088, .operation = "ALLREDUCE"};
  const NumberedCollective without_operation = {.group = "1", .number = 7753, .last_queued = 7755};
  EXPECT_THAT(
      ReadLines(
          "[E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog caught collective operation timeout: "
          "WorkNCCL(SeqNum=64088, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 25625251 "
          "milliseconds before timing out.\n"
          "[E ProcessGroupNCCL.cpp:1664] [PG 1 Rank 0] Timeout at NCCL work: 7753, last enqueued "
          "NCCL work: 7755, last completed NCCL work: 7752.\n"),
      ElementsAre(without_group, without_operation));
}

TEST(WatchdogLinesTest, TheFirstCollectiveOfAGroupCounts) {
  const auto read = ReadLines(absl::StrCat(Status(0, 12, 20), TimedOut(0, 12, "ALLREDUCE"),
                                           Status(0, 10, 20), TimedOut(0, 10, "BROADCAST")));
  ASSERT_EQ(read.size(), 1);
  EXPECT_EQ(read[0].number, 10);
  EXPECT_EQ(read[0].operation, "BROADCAST");
}

TEST(WatchdogLinesTest, MemoryIsBounded) {
  WatchdogLines lines;
  for (int group = 0; group < 1000; ++group) {
    lines.Take(absl::StrCat("[PG ", group,
                            " Rank 0] Timeout at NCCL work: 5, last enqueued NCCL "
                            "work: 7, last completed NCCL work: 4."));
  }
  EXPECT_EQ(lines.Finish().size(), 64);
}

TEST(WatchdogLinesTest, WhoHasNotQueuedTheCollectiveIsNamed) {
  const Verdict verdict = Diagnose({WaitsIn(0, 77, "ALLREDUCE"), WaitsIn(1, 77, "ALLREDUCE"),
                                    Health(Dumps(2, 76)), WaitsIn(3, 77, "ALLREDUCE")});
  EXPECT_EQ(verdict.cause, Cause::kDataInputStall);
  EXPECT_EQ(verdict.detail, Detail::kProgramNotQueued);
  EXPECT_THAT(Named(verdict), ElementsAre(2));
  EXPECT_THAT(verdict.culprits.at(0).why,
              HasSubstr("has queued nothing after collective 76 of group 0(default_pg), while 3 "
                        "others wait in collective 77, ALLREDUCE of 1024 elements"));
  // It has queued the collective, and so waits as the others do.
  EXPECT_THAT(Named(Diagnose({WaitsIn(0, 77, "ALLREDUCE"), WaitsIn(1, 77, "ALLREDUCE"),
                              WaitsIn(2, 77, "ALLREDUCE"), WaitsIn(3, 77, "ALLREDUCE")})),
              IsEmpty());
}

TEST(WatchdogLinesTest, AnotherOperationUnderTheSameNumberIsAnotherProgram) {
  const Verdict verdict = Diagnose({WaitsIn(0, 5, "BROADCAST"), WaitsIn(1, 5, "ALLREDUCE"),
                                    WaitsIn(2, 5, "ALLREDUCE"), WaitsIn(3, 5, "ALLREDUCE")});
  EXPECT_EQ(verdict.cause, Cause::kDifferentModule);
  EXPECT_THAT(Named(verdict), ElementsAre(0));
  EXPECT_THAT(verdict.culprits.at(0).why, HasSubstr("waits in BROADCAST of 1024 elements as "));
  const auto sizes = [](const std::string& operation) {
    return Named(Diagnose({WaitsIn(0, 5, operation), WaitsIn(1, 5, operation),
                           WaitsIn(2, 5, operation, 99), WaitsIn(3, 5, operation)}));
  };
  EXPECT_THAT(sizes("ALLREDUCE"), ElementsAre(2));
  EXPECT_THAT(sizes("COALESCED"), IsEmpty());  // ranks may gather and scatter unlike shares
  // Whichever rank comes first.
  EXPECT_THAT(Named(Diagnose({WaitsIn(0, 5, "ALLREDUCE"), WaitsIn(1, 5, "BROADCAST"),
                              WaitsIn(2, 5, "GATHER"), WaitsIn(3, 5, "ALLREDUCE"),
                              WaitsIn(4, 5, "ALLREDUCE")})),
              ElementsAre(1, 2));
  // Two against two: nobody.
  EXPECT_THAT(Named(Diagnose({WaitsIn(0, 5, "BROADCAST"), WaitsIn(1, 5, "BROADCAST"),
                              WaitsIn(2, 5, "ALLREDUCE"), WaitsIn(3, 5, "ALLREDUCE")})),
              IsEmpty());
}

TEST(WatchdogLinesTest, WhoWaitsAtAnEarlierCollectiveIsNotAccused) {
  EXPECT_THAT(Named(Diagnose({WaitsIn(0, 77, "ALLREDUCE"), WaitsIn(1, 77, "ALLREDUCE"),
                              WaitsIn(2, 76, "BROADCAST"), WaitsIn(3, 77, "ALLREDUCE")})),
              IsEmpty());
}

TEST(WatchdogLinesTest, TheReportOnADesynchronisationNamesWhoDidNotJoin) {
  const std::string report =
      "  - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
      "    - [1] finished collective #182, but didn't join collective #183 (count from 1)\n";
  const Verdict verdict =
      Diagnose({absl::StrCat(kHealth, TimedOut(0, 183, "ALLREDUCE"), report), Health(),
                WaitsIn(2, 183, "ALLREDUCE"), WaitsIn(3, 183, "ALLREDUCE")});
  EXPECT_EQ(verdict.detail, Detail::kProgramNotQueued);
  EXPECT_THAT(Named(verdict), ElementsAre(1));
}

}  // namespace
}  // namespace rapideye::logs
