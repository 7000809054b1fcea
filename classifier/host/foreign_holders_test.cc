#include "classifier/host/foreign_holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Process ProcessOf(int64_t pid, int64_t started_ms_ago) {
  Process process;
  process.pid = pid;
  process.started_ms_ago = started_ms_ago;
  return process;
}

// A job whose worker 0.1 has a training process 100 of ten minutes.
Scenario Job() {
  Scenario s;
  s.At(0, 1).processes = {ProcessOf(100, 600'000)};
  return s;
}

// "0.1:77" for each holder.
std::vector<std::string> HoldersOf(const Scenario& s) {
  std::vector<std::string> holders;
  for (const auto& [worker, process] : Classify(s.capture).holders) {
    holders.push_back(absl::StrCat(worker.slice, ".", worker.task, ":", process.pid));
  }
  return holders;
}

Obstacle Held(std::string subject, Process holder) {
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kDeviceHeld;
  obstacle.subject = std::move(subject);
  obstacle.holder = std::move(holder);
  return obstacle;
}

TEST(ForeignHolders, AreNamedOnceByWorkerAndPid) {
  Scenario s = Job();
  EXPECT_THAT(HoldersOf(s), IsEmpty());
  s.At(0, 1).chip_holders = {{ProcessOf(78, 9'000'000), {"accel1"}},
                             {ProcessOf(77, 9'000'000), {"accel0"}},
                             {ProcessOf(76, 9'000'000), {}}};  // holds nothing
  StartUp start_up;
  start_up.obstacles = {Held("accel0", ProcessOf(77, 9'000'000)),
                        Held("accel2", ProcessOf(79, 9'000'000))};
  s.At(0, 1).start_up = start_up;
  EXPECT_THAT(HoldersOf(s), ElementsAre("0.1:77", "0.1:78", "0.1:79"));
}

TEST(ForeignHolders, LeaveTheJobItselfOut) {
  Scenario s = Job();
  // Another worker of the same host.
  s.At(0, 2).host = s.At(0, 1).host;
  s.At(0, 2).processes = {ProcessOf(200, 600'000)};
  s.At(0, 1).chip_holders = {{ProcessOf(200, 600'000), {"accel0"}}};
  // The holder may be the training process, which is not known.
  s.At(0, 3).processes.clear();
  s.At(0, 3).chip_holders = {{ProcessOf(300, 600'000), {"accel0"}}};
  EXPECT_THAT(HoldersOf(s), IsEmpty());
  s.At(0, 1).chip_holders.push_back({ProcessOf(201, 600'000), {"accel0"}});
  EXPECT_THAT(HoldersOf(s), ElementsAre("0.1:201"));
}

TEST(ForeignHolders, AreBounded) {
  Scenario s = Job();
  for (int64_t pid = 1000; pid < 3000; ++pid) {
    s.At(0, 1).chip_holders.push_back({ProcessOf(pid, 0), {"accel0"}});
  }
  EXPECT_EQ(HoldersOf(s).size(), 1000u);
}

}  // namespace
}  // namespace rapideye::classifier::testing
