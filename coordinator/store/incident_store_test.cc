#include "coordinator/store/incident_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kOldest[] = "20261120T124419Z-ffffffff";
constexpr char kMiddle[] = "20261120T124420Z-5dc4d1c8";
constexpr char kNewest[] = "20261121T000000Z-00000000";
const std::vector<IncidentFile> kFiles = {{"digest.json", "{}\n"}, {"capture.jsonl.gz", "abc"}};

// The real disk, until it is told to fail: from the n-th change on it carries out no change, as
// if the process had been killed there. With `torn`, the write at that moment leaves half of its
// bytes.
class DyingDisk final : public Disk {
 public:
  explicit DyingDisk(int changes, bool torn = false, bool exchanges = true)
      : changes_left_(changes), torn_(torn), exchanges_(exchanges) {}

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
  absl::Status Replace(const std::string& from, const std::string& to) override {
    return Dies() ? Dead() : RealDisk().Replace(from, to);
  }
  absl::Status Exchange(const std::string& one, const std::string& other) override {
    if (!exchanges_) return absl::UnimplementedError("not here");
    return Dies() ? Dead() : RealDisk().Exchange(one, other);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return RealDisk().List(path);
  }
  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) override {
    return RealDisk().ReadFile(path, max_bytes);
  }
  absl::StatusOr<int64_t> BytesIn(const std::string& path) override {
    return RealDisk().BytesIn(path);
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
  bool exchanges_;  // not every file system swaps names
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
      // Opens the directory as after a restart.
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

TEST_F(IncidentStoreTest, ALaterDigestTakesThePlaceOfAnEarlierOne) {
  for (const bool exchanges : {true, false}) {
    DyingDisk disk(1000, false, exchanges);
    IncidentStore store(root_, disk);
    ASSERT_TRUE(store.Write("one", {{"digest.json", "old"}, {"hooks.json", "{}"}}).ok());
    ASSERT_TRUE(store.Replace("one", kFiles).ok());
    EXPECT_EQ(Read(store.PathOf("one") + "/digest.json"), "{}\n");
    // The hooks that ran for the old digest stay on record.
    EXPECT_EQ(Read(store.PathOf("one") + "/hooks.json"), "{}");
    EXPECT_THAT(Incidents(), ElementsAre("one"));
    // An incident that was never written is written.
    ASSERT_TRUE(store.Replace("two", kFiles).ok());
    EXPECT_THAT(Incidents(), UnorderedElementsAre("one", "two"));
    fs::remove_all(root_ + "/incidents");
  }
}

TEST_F(IncidentStoreTest, CrashBetweenAnyTwoStepsLeavesTheOldDigestOrTheNew) {
  for (const bool exchanges : {true, false}) {
    bool completed = false;
    bool seen_old = false;
    for (int steps = 0; !completed; ++steps) {
      for (const bool torn : {false, true}) {
        fs::remove_all(root_);
        fs::create_directory(root_);
        const std::vector<IncidentFile> old = {
            {"digest.json", "old"}, {"capture.jsonl.gz", "old"}, {"hooks.json", "ran"}};
        ASSERT_TRUE(IncidentStore(root_, RealDisk()).Write("one", old).ok());
        DyingDisk disk(steps, torn, exchanges);
        const absl::Status status = IncidentStore(root_, disk).Replace("one", kFiles);
        completed = !disk.died();
        EXPECT_EQ(status.ok(), completed) << steps;
        // Opens the directory as after a restart.
        IncidentStore store(root_, RealDisk());
        const auto leftovers = store.Prepare();
        ASSERT_TRUE(leftovers.ok()) << leftovers.status();
        EXPECT_THAT(leftovers->half_written, IsEmpty()) << "the incident is there";
        EXPECT_THAT(Incidents(), ElementsAre("one")) << steps;
        EXPECT_EQ(Read(store.PathOf("one") + "/hooks.json"), "ran") << steps;
        const std::string json = Read(store.PathOf("one") + "/digest.json");
        const std::string capture = Read(store.PathOf("one") + "/capture.jsonl.gz");
        if (json == "old") {
          seen_old = true;
          EXPECT_EQ(capture, "old") << steps;
          EXPECT_FALSE(completed) << steps;
        } else {
          EXPECT_EQ(json, "{}\n") << steps;
          EXPECT_EQ(capture, "abc") << steps;
        }
        ASSERT_TRUE(store.Replace("one", kFiles).ok());
        EXPECT_EQ(Read(store.PathOf("one") + "/digest.json"), "{}\n");
      }
    }
    EXPECT_TRUE(seen_old);
  }
}

TEST_F(IncidentStoreTest, PrepareRemovesWhatACrashLeftAndNamesIt) {
  IncidentStore store(root_, RealDisk());
  ASSERT_TRUE(store.Write("one", kFiles).ok());
  fs::create_directory(root_ + "/incidents/.writing-two");
  fs::create_directory(root_ + "/incidents/.removing-three");
  const auto leftovers = store.Prepare();
  ASSERT_TRUE(leftovers.ok());
  EXPECT_THAT(leftovers->half_written, ElementsAre("two"));
  EXPECT_THAT(Incidents(), ElementsAre("one"));
}

TEST_F(IncidentStoreTest, StatesTheVersionOfItsLayout) {
  IncidentStore store(root_ + "/new", RealDisk());
  const auto leftovers = store.Prepare();
  ASSERT_TRUE(leftovers.ok());
  EXPECT_FALSE(leftovers->unversioned);
  EXPECT_EQ(Read(root_ + "/new/version"), "1\n");
  EXPECT_TRUE(store.Prepare().ok());
}

TEST_F(IncidentStoreTest, DirectoryFromBeforeVersionsIsTakenOver) {
  fs::create_directories(root_ + "/incidents/" + kOldest);
  IncidentStore store(root_, RealDisk());
  const auto leftovers = store.Prepare();
  ASSERT_TRUE(leftovers.ok());
  EXPECT_TRUE(leftovers->unversioned);
  EXPECT_EQ(Read(root_ + "/version"), "1\n");
  EXPECT_THAT(Incidents(), ElementsAre(kOldest));
}

TEST_F(IncidentStoreTest, DirectoryOfANewerVersionIsNotTouched) {
  for (const char* version : {"2\n", "1.5", "", "-1", "1\n2\n", "one"}) {
    fs::create_directories(root_ + "/incidents/.writing-theirs");
    std::ofstream(root_ + "/version") << version;
    IncidentStore store(root_, RealDisk());
    EXPECT_TRUE(absl::IsUnimplemented(store.Prepare().status())) << version;
    const absl::Status written = store.Write(kNewest, kFiles);
    EXPECT_TRUE(absl::IsUnimplemented(written)) << version;
    EXPECT_THAT(std::string(written.message()), HasSubstr(root_ + "/version"));
    EXPECT_THAT(Incidents(), ElementsAre(".writing-theirs")) << version;
    EXPECT_EQ(Read(root_ + "/version"), version);
  }
  // Writing resumes once the version file is gone.
  fs::remove(root_ + "/version");
  EXPECT_TRUE(IncidentStore(root_, RealDisk()).Write(kNewest, kFiles).ok());
}

class RetentionTest : public IncidentStoreTest {
 protected:
  RetentionTest() : store_(root_, RealDisk()) {
    for (const char* id : {kMiddle, kNewest, kOldest}) EXPECT_TRUE(store_.Write(id, kFiles).ok());
  }
  static constexpr int64_t kBytesOfOne = 6;  // kFiles

  IncidentStore store_;
};

TEST_F(RetentionTest, WithinTheLimitsNothingIsRemoved) {
  const auto retained = store_.Retain({.incidents = 3, .bytes = 3 * kBytesOfOne}, kOldest);
  EXPECT_TRUE(retained.status.ok());
  EXPECT_THAT(retained.removed, IsEmpty());
  EXPECT_EQ(retained.incidents, 3);
  EXPECT_EQ(retained.bytes, 3 * kBytesOfOne);
  EXPECT_THAT(Incidents(), UnorderedElementsAre(kOldest, kMiddle, kNewest));
}

TEST_F(RetentionTest, BeyondTheNumberTheOldestGo) {
  const auto retained = store_.Retain({.incidents = 1}, "");
  EXPECT_THAT(retained.removed, ElementsAre(kOldest, kMiddle));
  EXPECT_EQ(retained.incidents, 1);
  EXPECT_THAT(Incidents(), ElementsAre(kNewest));
}

TEST_F(RetentionTest, BeyondTheSizeTheOldestGo) {
  const auto retained = store_.Retain({.bytes = 3 * kBytesOfOne - 1}, "");
  EXPECT_THAT(retained.removed, ElementsAre(kOldest));
  EXPECT_EQ(retained.bytes, 2 * kBytesOfOne);
}

TEST_F(RetentionTest, TheNewestStaysHoweverLarge) {
  EXPECT_THAT(store_.Retain({.bytes = 1}, "").removed, ElementsAre(kOldest, kMiddle));
  EXPECT_THAT(Incidents(), ElementsAre(kNewest));
}

TEST_F(RetentionTest, TheLatestStaysThoughTheClockHasGoneBack) {
  EXPECT_THAT(store_.Retain({.incidents = 1}, kOldest).removed, ElementsAre(kMiddle));
  EXPECT_THAT(Incidents(), UnorderedElementsAre(kOldest, kNewest));
}

TEST_F(RetentionTest, WhatIsNoIncidentIsLeftAlone) {
  fs::create_directory(root_ + "/incidents/notes");
  fs::create_directory(root_ + "/incidents/.writing-other");
  // Entries with the name of an incident: a file, and another user's link to a directory.
  std::ofstream(root_ + "/incidents/20200101T000000Z-00000000") << "x";
  fs::create_directory_symlink(root_, root_ + "/incidents/20200101T000000Z-00000001");
  EXPECT_THAT(store_.Retain({.incidents = 1}, "").removed, ElementsAre(kOldest, kMiddle));
  EXPECT_THAT(Incidents(),
              UnorderedElementsAre(kNewest, "notes", ".writing-other", "20200101T000000Z-00000000",
                                   "20200101T000000Z-00000001"));
}

TEST_F(RetentionTest, CrashBetweenAnyTwoStepsLeavesNoHalfIncident) {
  bool completed = false;
  for (int steps = 0; !completed; ++steps) {
    for (const char* id : {kMiddle, kOldest}) ASSERT_TRUE(store_.Write(id, kFiles).ok());
    DyingDisk disk(steps);
    const auto retained = IncidentStore(root_, disk).Retain({.incidents = 1}, "");
    completed = !disk.died();
    EXPECT_EQ(retained.status.ok(), completed) << steps;
    // After the restart.
    ASSERT_TRUE(store_.Prepare().ok());
    EXPECT_THAT(Incidents(), Contains(kNewest));
    for (const std::string& id : Incidents()) {
      EXPECT_EQ(Read(store_.PathOf(id) + "/digest.json"), "{}\n") << steps;
      EXPECT_EQ(Read(store_.PathOf(id) + "/capture.jsonl.gz"), "abc") << steps;
    }
  }
  EXPECT_THAT(Incidents(), ElementsAre(kNewest));
}

TEST_F(IncidentStoreTest, DirectoryThatCannotBeIsReportedByName) {
  // Not even root makes a directory under a file.
  std::ofstream(root_ + "/file") << "x";
  IncidentStore store(root_ + "/file", RealDisk());
  const absl::Status prepared = store.Prepare().status();
  EXPECT_FALSE(prepared.ok());
  EXPECT_THAT(std::string(prepared.message()), HasSubstr(root_ + "/file"));
  EXPECT_FALSE(store.Write("one", kFiles).ok());
  // Writing resumes by itself once the directory can be made.
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
