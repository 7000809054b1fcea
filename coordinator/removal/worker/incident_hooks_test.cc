#include "coordinator/removal/worker/incident_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "tests/fleet/remover_fixture.h"
#include "tests/support/faulty_disk.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kPatience = absl::Seconds(30);

class IncidentHooksTest : public ::testing::Test {
 protected:
  static fs::path MakeRoot() {
    std::string pattern = fs::temp_directory_path() / "rapideye-hooks-XXXXXX";
    const fs::path root = mkdtemp(pattern.data());
    for (const char* id : {"i1", "i2"}) fs::create_directory(root / id);
    return root;
  }
  ~IncidentHooksTest() override { fs::remove_all(root_); }

  std::unique_ptr<IncidentHooks> Make(Disk& disk) {
    return std::make_unique<IncidentHooks>(
        disk, runner_,
        IncidentHooks::Settings{.incidents = root_,
                                .hooks = {"/hooks/upload", "/hooks/restart"},
                                .lifetime = absl::Hours(6),
                                .now = [this] { return now_; },
                                .distrust = [](const std::string&) { return absl::OkStatus(); },
                                .call = [](const Task& task) -> absl::StatusOr<HookCall> {
                                  HookCall call;
                                  call.hook = task.hook;
                                  call.finding.incident = task.incident;
                                  call.attempt = task.attempts;
                                  return call;
                                },
                                .settled = [this](const Task& task) -> std::optional<std::string> {
                                  if (before_) before_();
                                  if (task.hook != settled_) return std::nullopt;
                                  return "run for the removal";
                                }});
  }
  // The hooks of one digest, or of an end.
  std::vector<Task> TasksOf(const std::string& key) {
    const RemovalRecord record = hooks_->RecordOf(EventOf(key).id).value();
    std::vector<Task> tasks;
    std::copy_if(record.hooks.begin(), record.hooks.end(), std::back_inserter(tasks),
                 [&](const Task& task) { return task.incident == key; });
    return tasks;
  }
  absl::StatusOr<std::vector<Task>> RunDue(IncidentHooks& hooks) {
    return hooks.RunDue([] { return true; });
  }
  // "hook incident", in the order in which they ran.
  std::vector<std::string> Ran() {
    std::vector<std::string> ran;
    for (const HookCall& call : runner_.calls()) {
      EXPECT_EQ(call.finding.host, "");
      ran.push_back(absl::StrCat(call.hook, " ", call.finding.incident));
    }
    return ran;
  }

  const fs::path root_ = MakeRoot();
  RecordingHooks runner_;
  std::unique_ptr<IncidentHooks> hooks_ = Make(RealDisk());
  std::string settled_;
  std::function<void()> before_;  // each hook
  absl::Time now_ = kThen;
};

TEST_F(IncidentHooksTest, RunOnceInTheirOrderOnceTheIncidentIsReleased) {
  ASSERT_TRUE(hooks_->Add("i1", kPatience).ok());
  ASSERT_TRUE(hooks_->Add("i1", kPatience).ok());
  EXPECT_THAT(*RunDue(*hooks_), IsEmpty());
  EXPECT_EQ(hooks_->UntilNext(), kPatience);
  EXPECT_THAT(hooks_->Waiting(), ElementsAre("i1"));
  ASSERT_TRUE(hooks_->Release("i1").ok());
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(*RunDue(*hooks_), IsEmpty());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/restart i1"));
  EXPECT_THAT(hooks_->Waiting(), IsEmpty());
  EXPECT_EQ(hooks_->UntilNext(), absl::InfiniteDuration());
}

TEST_F(IncidentHooksTest, AnEndFollowsWhatEachHookWasRunFor) {
  const std::string end = EndKey("i1-r2");
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  runner_.Succeed(false);
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(1));  // the second waits for the first
  EXPECT_FALSE(*hooks_->AddEnd("i1-r2", {}));
  EXPECT_THAT(TasksOf(end), IsEmpty());
  runner_.Succeed(true);
  now_ += absl::Minutes(1);
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  Task removal;
  removal.hook = "/hooks/restart";
  removal.state = "due";
  EXPECT_FALSE(*hooks_->AddEnd("i1-r2", {removal}));
  EXPECT_THAT(TasksOf(end), SizeIs(1));
  removal.state = "failed";
  EXPECT_TRUE(*hooks_->AddEnd("i1-r2", {removal}));
  EXPECT_TRUE(*hooks_->AddEnd("i1-r2", {removal}));
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/upload i1", "/hooks/restart i1",
                                 "/hooks/upload i1-r2-end", "/hooks/restart i1-r2-end"));
}

TEST_F(IncidentHooksTest, OfWhatNoHookWasRunForNobodyHearsTheEnd) {
  EXPECT_TRUE(*hooks_->AddEnd("i1", {}));
  EXPECT_THAT(TasksOf(EndKey("i1")), IsEmpty());
}

TEST_F(IncidentHooksTest, PatienceEndsByItself) {
  ASSERT_TRUE(hooks_->Add("i1", kPatience).ok());
  now_ += kPatience;
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
}

TEST_F(IncidentHooksTest, WhatTheRemovalRanIsNotRunAgain) {
  settled_ = "/hooks/upload";
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(*hooks_).ok());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/restart i1"));
  EXPECT_EQ(TasksOf("i1").at(0).outcome, "run for the removal");
}

TEST_F(IncidentHooksTest, OneThatFailsHoldsUpTheRestartAndNoOtherIncident) {
  runner_.Succeed(false);
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(*hooks_).ok());
  runner_.Succeed(true);
  ASSERT_TRUE(hooks_->Add("i2", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(*hooks_).ok());
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/upload i2", "/hooks/restart i2"));
  EXPECT_EQ(hooks_->UntilNext(), kFirstHookRetry);
  now_ += kFirstHookRetry;
  ASSERT_TRUE(RunDue(*hooks_).ok());
  EXPECT_THAT(Ran(), SizeIs(5));
  EXPECT_EQ(Ran().back(), "/hooks/restart i1");
}

TEST_F(IncidentHooksTest, WhatItsRecordSaysIsWhatTheNextProcessDoes) {
  runner_.Succeed(false);
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(RunDue(*hooks_).ok());
  hooks_ = Make(RealDisk());
  EXPECT_EQ(hooks_->UntilNext(), absl::InfiniteDuration());  // nothing is read yet
  EXPECT_EQ(hooks_->RecordOf("i1")->revision, 1);
  EXPECT_EQ(hooks_->UntilNext(), kFirstHookRetry);
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  now_ += kFirstHookRetry;
  runner_.Succeed(true);
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  hooks_->DropSettled();
  EXPECT_THAT(TasksOf("i1"), SizeIs(2));
}

TEST_F(IncidentHooksTest, TooLateNothingBegins) {
  ASSERT_TRUE(hooks_->Add("i1", kPatience).ok());
  now_ += absl::Hours(6);
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), IsEmpty());
  EXPECT_EQ(TasksOf("i1").at(0).state, "expired");
  EXPECT_EQ(hooks_->UntilNext(), absl::InfiniteDuration());
}

// The clock was a year ahead when the hook was added, and is right again after a restart.
TEST_F(IncidentHooksTest, AClockThatWasAheadHoldsNoHookUpForLong) {
  now_ += absl::Hours(365 * 24);
  ASSERT_TRUE(hooks_->Add("i1", kPatience).ok());
  now_ = kThen;
  hooks_ = Make(RealDisk());
  ASSERT_TRUE(hooks_->RecordOf("i1").ok());
  EXPECT_EQ(hooks_->UntilNext(), kLongestHookRetry);
  now_ += absl::Hours(6) - absl::Seconds(1);
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), SizeIs(2));
}

TEST_F(IncidentHooksTest, OnlyHooksOfTheCommandLineRun) {
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(hooks_
                  ->Change("i1",
                           [](RemovalRecord& record) {
                             record.hooks[0].hook = "/tmp/foreign";
                             record.hooks.erase(record.hooks.begin() + 1);
                           })
                  .ok());
  EXPECT_THAT(*RunDue(*hooks_), IsEmpty());
  EXPECT_EQ(hooks_->UntilNext(), absl::InfiniteDuration());
}

TEST_F(IncidentHooksTest, AnIncidentThatTheRetentionRemovedHoldsUpNoOther) {
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  ASSERT_TRUE(hooks_->Add("i2", absl::ZeroDuration()).ok());
  fs::remove_all(root_ / "i1");
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i2", "/hooks/restart i2"));
  EXPECT_EQ(hooks_->UntilNext(), absl::InfiniteDuration());
  EXPECT_TRUE(absl::IsNotFound(hooks_->Add("i1", absl::ZeroDuration())));
  EXPECT_FALSE(fs::exists(root_ / "i1"));
}

TEST_F(IncidentHooksTest, ADiskThatIsFullRunsNoHookTwice) {
  FaultyDisk disk;
  hooks_ = Make(disk);
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  before_ = [&] { disk.Refuse(absl::ResourceExhaustedError("full")); };
  EXPECT_FALSE(RunDue(*hooks_).ok());
  EXPECT_FALSE(RunDue(*hooks_).ok());
  disk.Refuse(absl::OkStatus());
  before_ = nullptr;
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/restart i1"));
}

// A later digest takes the place of the directory while the result of the hook is written.
TEST_F(IncidentHooksTest, AFileThatVanishesInTheMidstOfAWriteRunsNoHookTwice) {
  FaultyDisk disk;
  hooks_ = Make(disk);
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  before_ = [&] { disk.Refuse(absl::NotFoundError("i1/hooks.json.new")); };
  EXPECT_FALSE(RunDue(*hooks_).ok());
  disk.Refuse(absl::OkStatus());
  before_ = nullptr;
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
  EXPECT_THAT(Ran(), ElementsAre("/hooks/upload i1", "/hooks/restart i1"));
}

TEST_F(IncidentHooksTest, ADamagedRecordIsAsIfThereWereNone) {
  std::ofstream(root_ / "i1" / "hooks.json") << "{\"incident\": \"i1\"";
  ASSERT_TRUE(hooks_->Add("i1", absl::ZeroDuration()).ok());
  EXPECT_THAT(*RunDue(*hooks_), SizeIs(2));
}

// The coordinator dies after any of its changes to the disk, and the next one goes on: each hook
// runs, in order, and at most one of them twice.
TEST_F(IncidentHooksTest, WhereverItDiesEveryHookRuns) {
  bool finished = false;
  int steps = 0;
  int ran_again = 0;
  for (; !finished; ++steps) {
    SCOPED_TRACE(absl::StrCat("died after ", steps, " changes"));
    ASSERT_LT(steps, 200);
    const std::string incident = absl::StrCat("j", steps);
    fs::create_directory(root_ / incident);
    const size_t before = runner_.calls().size();
    FaultyDisk disk;
    disk.RefuseAfter(steps, absl::DataLossError("dead"));
    const std::unique_ptr<IncidentHooks> first = Make(disk);
    finished = first->Add(incident, kPatience).ok() && first->Release(incident).ok() &&
               RunDue(*first).ok();
    // The next process finds the incident on disk.
    const std::unique_ptr<IncidentHooks> next = Make(RealDisk());
    ASSERT_TRUE(next->Add(incident, kPatience).ok());
    ASSERT_TRUE(next->Release(incident).ok());
    ASSERT_TRUE(RunDue(*next).ok());

    std::vector<std::string> ran = Ran();
    ran.erase(ran.begin(), ran.begin() + static_cast<std::ptrdiff_t>(before));
    if (ran.size() == 3) ++ran_again;
    ran.erase(std::unique(ran.begin(), ran.end()), ran.end());
    EXPECT_THAT(ran, ElementsAre(absl::StrCat("/hooks/upload ", incident),
                                 absl::StrCat("/hooks/restart ", incident)));
    const RemovalRecord record = next->RecordOf(incident).value();
    EXPECT_THAT(record.hooks, SizeIs(2));
    for (const Task& task : record.hooks) EXPECT_EQ(task.state, "done");
  }
  EXPECT_GT(steps, 20);
  // Hooks run again only after a death between the end of a hook and its record: each of the two
  // records takes three changes until it stands.
  EXPECT_EQ(ran_again, 6);
}

}  // namespace
}  // namespace rapideye::coordinator
