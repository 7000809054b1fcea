#include "coordinator/shell/incident_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<IncidentFile> kFiles = {{"digest.json", "{}\n"}, {"capture.jsonl.gz", "abc"}};

// The real disk, until it is told to fail: from the n-th change on, nothing is
// carried out any more, as if the process had been killed there. With `torn`,
// the write it dies in leaves half of its bytes.
class DyingDisk final : public Disk {
 public:
  explicit DyingDisk(int changes, bool torn = false) : changes_left_(changes), torn_(torn) {}

  absl::Status MakeDirectory(const std::string& path) override {
    return Dies() ? Dead() : RealDisk().MakeDirectory(path);
  }
  absl::Status WriteFile(const std::string& path, const std::string& bytes) override {
    if (!Dies()) return RealDisk().WriteFile(path, bytes);
    if (torn_) {
      RealDisk().WriteFile(path, bytes.substr(0, bytes.size() / 2)).IgnoreError();
      torn_ = false;
    }
    return Dead();
  }
  absl::Status SyncDirectory(const std::string& path) override {
    return Dies() ? Dead() : RealDisk().SyncDirectory(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return Dies() ? Dead() : RealDisk().Rename(from, to);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return RealDisk().List(path);
  }
  absl::Status RemoveAll(const std::string& path) override {
    return Dies() ? Dead() : RealDisk().RemoveAll(path);
  }

  bool died() const { return changes_left_ < 0; }

 private:
  bool Dies() { return --changes_left_ < 0; }
  static absl::Status Dead() { return absl::AbortedError("dead"); }

  int changes_left_;
  bool torn_;
};

class IncidentStoreTest : public ::testing::Test {
 protected:
  IncidentStoreTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-store-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~IncidentStoreTest() override { fs::remove_all(root_); }

  // Names under incidents/, half-written ones included.
  std::vector<std::string> Incidents() const {
    std::vector<std::string> names;
    if (!fs::exists(root_ + "/incidents")) return names;
    for (const auto& entry : fs::directory_iterator(root_ + "/incidents")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  static std::string Read(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path).rdbuf();
    return bytes.str();
  }

  std::string root_;
};

TEST_F(IncidentStoreTest, WritesACompleteIncident) {
  IncidentStore store(root_, RealDisk());
  ASSERT_TRUE(store.Prepare().ok());
  ASSERT_TRUE(store.Write("one", kFiles).ok());
  EXPECT_THAT(Incidents(), ElementsAre("one"));
  EXPECT_EQ(Read(store.PathOf("one") + "/digest.json"), "{}\n");
  EXPECT_EQ(Read(store.PathOf("one") + "/capture.jsonl.gz"), "abc");
}

TEST_F(IncidentStoreTest, MakesTheDirectoriesThatAreMissing) {
  IncidentStore store(root_ + "/deep/er", RealDisk());
  EXPECT_TRUE(store.Write("one", kFiles).ok());
  EXPECT_TRUE(fs::exists(store.PathOf("one")));
}

TEST_F(IncidentStoreTest, AnIncidentThatIsThereIsLeftAsItIs) {
  IncidentStore store(root_, RealDisk());
  ASSERT_TRUE(store.Write("one", kFiles).ok());
  EXPECT_TRUE(store.Write("one", {{"digest.json", "other"}}).ok());
  EXPECT_EQ(Read(store.PathOf("one") + "/digest.json"), "{}\n");
  EXPECT_THAT(Incidents(), ElementsAre("one"));
}

TEST_F(IncidentStoreTest, CrashBetweenAnyTwoStepsLeavesItCompleteOrAbsent) {
  bool completed = false;
  for (int steps = 0; !completed; ++steps) {
    for (const bool torn : {false, true}) {
      fs::remove_all(root_);
      fs::create_directory(root_);
      DyingDisk disk(steps, torn);
      const absl::Status status = IncidentStore(root_, disk).Write("one", kFiles);
      completed = !disk.died();
      EXPECT_EQ(status.ok(), completed) << steps;
      // After the restart.
      IncidentStore store(root_, RealDisk());
      ASSERT_TRUE(store.Prepare().ok());
      if (fs::exists(store.PathOf("one"))) {
        EXPECT_EQ(Read(store.PathOf("one") + "/digest.json"), "{}\n") << steps;
        EXPECT_EQ(Read(store.PathOf("one") + "/capture.jsonl.gz"), "abc") << steps;
      } else {
        EXPECT_THAT(Incidents(), IsEmpty()) << steps;
      }
      ASSERT_TRUE(store.Write("one", kFiles).ok());
      EXPECT_THAT(Incidents(), ElementsAre("one"));
    }
  }
}

TEST_F(IncidentStoreTest, PrepareLeavesCompleteIncidentsAlone) {
  IncidentStore store(root_, RealDisk());
  ASSERT_TRUE(store.Write("one", kFiles).ok());
  fs::create_directory(root_ + "/incidents/.writing-two");
  ASSERT_TRUE(store.Prepare().ok());
  EXPECT_THAT(Incidents(), ElementsAre("one"));
}

TEST_F(IncidentStoreTest, DirectoryThatCannotBeIsReportedByName) {
  // Not even root makes a directory under a file.
  std::ofstream(root_ + "/file") << "x";
  IncidentStore store(root_ + "/file", RealDisk());
  const absl::Status prepared = store.Prepare();
  EXPECT_FALSE(prepared.ok());
  EXPECT_THAT(std::string(prepared.message()), HasSubstr(root_ + "/file/incidents"));
  EXPECT_FALSE(store.Write("one", kFiles).ok());
  // Once it can be, writing resumes by itself.
  fs::remove(root_ + "/file");
  EXPECT_TRUE(store.Write("one", kFiles).ok());
}

TEST_F(IncidentStoreTest, StateDirectoryThatVanishedIsMadeAgain) {
  IncidentStore store(root_, RealDisk());
  ASSERT_TRUE(store.Prepare().ok());
  fs::remove_all(root_);
  EXPECT_TRUE(store.Write("one", kFiles).ok());
}

}  // namespace
}  // namespace rapideye::coordinator
