#include "agent/daemon/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agent/core/limits.h"
#include "agent/daemon/state_keeper.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kBoot[] = "0a1b";

SavedState State() {
  SavedState state;
  state.kept_at = absl::Hours(3);
  state.hello.job = "llama/70b";
  state.hello.worker = {1, 2};
  state.hello.host = "host-1-2";
  state.hello.agent_incarnation = 17;
  state.hello.poll_interval = absl::Seconds(5);
  state.hello.incident = wire::IncidentMemory{"20260131T235959Z-0123abcd", true, "17@4"};
  state.snapshot.emplace();
  state.snapshot->worker = {1, 2};
  state.snapshot->incarnation = "17@4";
  state.snapshot->cores.emplace_back().launch_id = 5;
  state.alarms.push_back({wire::AlarmKind::kCoreHalt, "a halt"});
  return state;
}

std::string ErrorOf(std::string_view bytes) {
  const absl::StatusOr<SavedState> state = DecodeState(bytes, kBoot);
  return state.ok() ? "accepted" : std::string(state.status().message());
}

TEST(StateBytes, SurviveBothWays) {
  const absl::StatusOr<SavedState> state = DecodeState(EncodeState(State(), kBoot), kBoot);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->kept_at, absl::Hours(3));
  EXPECT_EQ(state->hello.job, "llama/70b");
  EXPECT_EQ(state->hello.incident, State().hello.incident);
  ASSERT_TRUE(state->snapshot.has_value());
  EXPECT_EQ(state->snapshot->cores[0].launch_id, 5);
  ASSERT_EQ(state->alarms.size(), 1u);
  EXPECT_EQ(state->alarms[0].text, "a halt");
}

TEST(StateBytes, CutAnywhereOrChangedAnywhereAreRefused) {
  const std::string whole = EncodeState(State(), kBoot);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeState(whole.substr(0, size), kBoot).ok()) << size;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    const absl::StatusOr<SavedState> state = DecodeState(changed, kBoot);
    // A digit of the time may change unnoticed: it is checked against the clock.
    if (state.ok()) {
      EXPECT_NE(state->kept_at, absl::Hours(3)) << i;
    }
  }
}

TEST(StateBytes, OfAnotherBootOrVersionAreNobodysFault) {
  EXPECT_TRUE(
      absl::IsFailedPrecondition(DecodeState(EncodeState(State(), "other"), kBoot).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeState(EncodeState(State(), ""), "").status()));
  std::string newer = EncodeState(State(), kBoot);
  newer.replace(newer.find(" 1 "), 3, " 2 ");
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeState(newer, kBoot).status()));
}

TEST(StateBytes, HostileContentIsRefusedAsFromAPeer) {
  EXPECT_EQ(ErrorOf("GET / HTTP/1.1\n"), "is not the state of an agent");
  EXPECT_EQ(ErrorOf(std::string(1 << 20, 'x')), "its first line is missing");
  SavedState state = State();
  state.hello.host.clear();
  EXPECT_EQ(ErrorOf(EncodeState(state, kBoot)), "hello.host: is missing");
  state = State();
  state.hello.incident->incident = "../../etc";
  EXPECT_THAT(ErrorOf(EncodeState(state, kBoot)), HasSubstr("hello.incident.incident"));
}

class StateFileTest : public testing::Test {
 protected:
  StateFileTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-state-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~StateFileTest() override { fs::remove_all(root_); }

  StateFile File() const { return StateFile(root_ + "/state", State().hello); }
  void Write(const std::string& bytes) const {
    fs::create_directories(fs::path(File().path()).parent_path());
    std::ofstream(File().path(), std::ios::binary) << bytes;
  }

  std::string root_;
};

TEST_F(StateFileTest, WhatIsSavedIsLoaded) {
  ASSERT_TRUE(File().Load().ok());
  EXPECT_FALSE(File().Load()->has_value());
  ASSERT_TRUE(File().Save(State()).ok());
  EXPECT_THAT(File().path(), HasSubstr("/llama_70b-1-2/state"));
  const auto state = File().Load();
  ASSERT_TRUE(state.ok() && state->has_value()) << state.status();
  EXPECT_EQ((*state)->hello.incident, State().hello.incident);
}

TEST_F(StateFileTest, NothingToKeepLeavesNothing) {
  ASSERT_TRUE(File().Save(State()).ok());
  EXPECT_TRUE(File().Save(SavedState()).ok());
  EXPECT_FALSE(fs::exists(File().path()));
  EXPECT_TRUE(File().Save(SavedState()).ok());
}

TEST_F(StateFileTest, BrokenLargeOrStrangeFilesAreNotUsed) {
  Write("nonsense\n");
  EXPECT_TRUE(absl::IsInvalidArgument(File().Load().status()));
  Write(std::string(kMaxStateBytes + 1, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(File().Load().status()));
  fs::remove(File().path());
  fs::create_directory(File().path());
  EXPECT_FALSE(File().Load().ok());
  fs::remove(File().path());
  fs::create_symlink("/etc/passwd", File().path());
  EXPECT_FALSE(File().Load().ok());
  EXPECT_FALSE(StateKeeper::Load(File()).has_value());
}

TEST_F(StateFileTest, WhatAnotherUserMayHaveWrittenIsNotUsed) {
  const fs::path directory = fs::path(File().path()).parent_path();
  ASSERT_TRUE(File().Save(State()).ok());
  ASSERT_TRUE(StateKeeper::Load(File()).has_value());
  fs::permissions(directory, fs::perms::all);
  EXPECT_TRUE(absl::IsPermissionDenied(File().Load().status()));
  EXPECT_FALSE(File().Save(State()).ok());
  EXPECT_FALSE(StateKeeper::Load(File()).has_value());
  fs::permissions(directory, fs::perms::owner_all);
  EXPECT_TRUE(StateKeeper::Load(File()).has_value());
  fs::permissions(File().path(), fs::perms::all);
  EXPECT_TRUE(absl::IsPermissionDenied(File().Load().status()));
  if (geteuid() != 0) return;  // only root gives files away
  constexpr uid_t kAnother = 65534;
  fs::permissions(File().path(), fs::perms::owner_read);
  ASSERT_EQ(chown(File().path().c_str(), kAnother, kAnother), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(File().Load().status()));
  EXPECT_TRUE(File().Save(State()).ok());  // replaces it
  EXPECT_TRUE(StateKeeper::Load(File()).has_value());
  ASSERT_EQ(chown(directory.c_str(), kAnother, kAnother), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(File().Load().status()));
}

TEST_F(StateFileTest, DirectoryThatCannotBeUsedIsAnErrorAndNoMore) {
  std::ofstream(root_ + "/state") << "a file";
  EXPECT_FALSE(File().Save(State()).ok());
  StateKeeper keeper(File());
  keeper.Keep(State());
}

TEST_F(StateFileTest, TheLastStateIsOnDiskWhenTheKeeperIsGone) {
  {
    StateKeeper keeper(File());
    for (int i = 1; i <= 100; ++i) {
      SavedState state = State();
      state.hello.agent_incarnation = i;
      keeper.Keep(std::move(state));
    }
  }
  const std::optional<SavedState> state = StateKeeper::Load(File());
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->hello.agent_incarnation, 100);
}

}  // namespace
}  // namespace rapideye::agent
