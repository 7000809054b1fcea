#include "coordinator/core/lost_time.h"

#include <gtest/gtest.h>

#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

Snapshot WithChips(int chips) {
  Snapshot snapshot;
  for (int i = 0; i < 2 * chips; ++i) {  // two cores each
    Core core;
    core.chip = i / 2;
    snapshot.cores.push_back(core);
  }
  return snapshot;
}

TEST(CountChipsTest, WorkersWithoutCoresAreTakenToHaveAsMany) {
  EXPECT_EQ(CountChips({{{0, 0}, WithChips(4)}, {{0, 1}, WithChips(4)}}, 2), 8);
  EXPECT_EQ(CountChips({{{0, 0}, WithChips(4)}, {{0, 1}, Snapshot()}}, 3), 12);
}

TEST(CountChipsTest, NoCoresAreNoChips) {
  EXPECT_EQ(CountChips({{{0, 0}, Snapshot()}}, 8), 0);
  EXPECT_EQ(CountChips({}, 8), 0);
}

TEST(CountChipsTest, AWorkerHasNoMoreThanAHostMayHave) {
  EXPECT_EQ(CountChips({{{0, 0}, WithChips(static_cast<int>(kMaxChipsOfWorker) + 5)}}, 1),
            static_cast<double>(kMaxChipsOfWorker));
}

TEST(LostTimeTest, CountsFromTheLastProgressAndWhileTheJobHangs) {
  LostTime lost;
  lost.Follow(false, absl::Seconds(100));
  lost.Suspect(absl::Seconds(90), 8);
  lost.Follow(false, absl::Seconds(101));
  EXPECT_EQ(lost.Total(absl::Seconds(101)).hung, absl::ZeroDuration());
  lost.Follow(true, absl::Seconds(102));
  EXPECT_EQ(lost.Total(absl::Seconds(102)).hung, absl::Seconds(12));
  lost.Follow(true, absl::Seconds(110));
  lost.Follow(false, absl::Seconds(120));
  EXPECT_EQ(lost.Total(absl::Seconds(500)).hung, absl::Seconds(30));
  EXPECT_EQ(lost.Total(absl::Seconds(500)).of_chips, absl::Seconds(240));
}

TEST(LostTimeTest, HangsAddUpAndKeepTheChipsThatWereSeen) {
  LostTime lost;
  lost.Suspect(absl::Seconds(0), 4);
  lost.Follow(true, absl::Seconds(10));
  lost.Follow(false, absl::Seconds(20));
  lost.Suspect(absl::Seconds(30), 0);
  lost.Follow(true, absl::Seconds(35));
  lost.Follow(false, absl::Seconds(40));
  EXPECT_EQ(lost.Total(absl::Seconds(40)).hung, absl::Seconds(30));
  EXPECT_EQ(lost.Total(absl::Seconds(40)).of_chips, absl::Seconds(120));
}

// A coordinator that has just restarted has suspected nothing yet.
TEST(LostTimeTest, AHangOfAnEarlierCoordinatorCountsFromNow) {
  LostTime lost;
  lost.Follow(true, absl::Seconds(10));
  EXPECT_EQ(lost.Total(absl::Seconds(15)).hung, absl::Seconds(5));
  EXPECT_EQ(lost.Total(absl::Seconds(15)).of_chips, absl::ZeroDuration());
}

}  // namespace
}  // namespace rapideye::coordinator
