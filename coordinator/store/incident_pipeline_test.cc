#include "coordinator/store/incident_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "coordinator/store/incident_archive.h"
#include "tests/support/faulty_disk.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFirst[] = "20261120T124419Z-00000001";
constexpr char kSecond[] = "20261120T124420Z-00000002";
constexpr char kThird[] = "20261120T124421Z-00000003";

IncidentFiles Incident(const std::string& id, size_t bytes = 3) {
  return {.id = id, .files = {{"digest.json", "{}\n"}, {"capture", std::string(bytes, 'x')}}};
}

class IncidentPipelineTest : public ::testing::Test {
 protected:
  IncidentPipelineTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-pipeline-XXXXXX";
    root_ = mkdtemp(pattern.data());
    logger_ = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));
  }
  ~IncidentPipelineTest() override {
    spdlog::set_default_logger(logger_);
    fs::remove_all(root_);
  }

  IncidentPipeline::Settings Settings() {
    IncidentPipeline::Settings settings;
    settings.pending.first_retry = settings.pending.longest_retry = absl::Milliseconds(1);
    settings.patience = absl::Seconds(30);
    settings.wrote = [wrote = wrote_](const std::string&, absl::Duration) { wrote->set_value(); };
    return settings;
  }
  std::unique_ptr<IncidentPipeline> Start(Disk& disk, IncidentPipeline::Settings settings) {
    return std::make_unique<IncidentPipeline>(IncidentStore(root_, disk), std::move(settings));
  }
  bool OnDisk(const std::string& id) const {
    return fs::exists(root_ + "/incidents/" + id + "/digest.json");
  }

  std::string root_;
  // Fulfilled by the first incident that comes to disk.
  std::shared_ptr<std::promise<void>> wrote_ = std::make_shared<std::promise<void>>();
  std::shared_ptr<spdlog::logger> logger_;
  std::ostringstream log_;
};

TEST_F(IncidentPipelineTest, WritesAndSaysWhere) {
  auto pipeline = Start(RealDisk(), Settings());
  EXPECT_TRUE(pipeline->Keep(Incident(kFirst)).get().ok());
  EXPECT_TRUE(OnDisk(kFirst));
  pipeline.reset();
  EXPECT_THAT(log_.str(), AllOf(HasSubstr("written to " + root_ + "/incidents/" + kFirst),
                                Not(HasSubstr("error"))));
}

TEST_F(IncidentPipelineTest, DiskThatRefusesIsLoudAndWritingResumesByItself) {
  FaultyDisk disk;
  disk.Refuse(absl::ResourceExhaustedError("cannot write /x: No space left on device"));
  auto pipeline = Start(disk, Settings());
  EXPECT_TRUE(absl::IsResourceExhausted(pipeline->Keep(Incident(kFirst)).get()));
  EXPECT_FALSE(OnDisk(kFirst));
  const DiskReport failing = pipeline->Report();
  EXPECT_GE(failing.counters.write_failures, 1);
  EXPECT_EQ(failing.counters.written, 0);
  EXPECT_EQ(failing.pending_incidents, 1);
  EXPECT_EQ(failing.pending_bytes, 6);
  EXPECT_THAT(failing.problem,
              AllOf(HasSubstr("No space left"), HasSubstr("free some room there")));

  disk.Refuse(absl::OkStatus());
  wrote_->get_future().wait();
  EXPECT_TRUE(OnDisk(kFirst));
  pipeline.reset();
  EXPECT_THAT(log_.str(), AllOf(HasSubstr("NOT WRITTEN"), HasSubstr("free some room there"),
                                HasSubstr("takes incidents again"), Not(HasSubstr("LOST"))));
}

TEST_F(IncidentPipelineTest, AnEndComesToDiskBesideItsIncident) {
  IncidentPipeline::Settings settings = Settings();
  std::promise<std::string> ended;
  settings.ended = [&ended](const std::string& id) { ended.set_value(id); };
  auto pipeline = Start(RealDisk(), std::move(settings));
  const absl::Time then = absl::FromUnixSeconds(1'795'178'659);
  pipeline->End({.id = kSecond, .ended = then});  // there is no such incident
  pipeline->Keep(Incident(kFirst)).wait();
  pipeline->End({.id = kFirst, .ended = then, .why = "launches \x1b complete"});
  EXPECT_EQ(ended.get_future().get(), kFirst);
  const IncidentArchive archive(root_);
  EXPECT_EQ(archive.EndOf(kFirst)->ended, then);
  EXPECT_EQ(archive.EndOf(kFirst)->why, "launches \\x1b complete");
  EXPECT_FALSE(archive.EndOf(kSecond).has_value());
  EXPECT_FALSE(archive.EndOf("../x").has_value());
}

TEST_F(IncidentPipelineTest, AnEndThatTheDiskRefusesIsTriedAgain) {
  FaultyDisk disk;
  disk.Refuse(absl::ResourceExhaustedError("No space left on device"));
  IncidentPipeline::Settings settings = Settings();
  std::promise<void> ended;
  settings.ended = [&ended](const std::string&) { ended.set_value(); };
  auto pipeline = Start(disk, std::move(settings));
  pipeline->Keep(Incident(kFirst)).wait();
  pipeline->End({.id = kFirst, .ended = absl::UnixEpoch(), .why = "it goes on"});
  disk.Refuse(absl::OkStatus());
  ended.get_future().wait();
  EXPECT_TRUE(IncidentArchive(root_).EndOf(kFirst).has_value());
}

TEST_F(IncidentPipelineTest, ALaterDigestKeepsWhatIsNotedOfTheIncident) {
  IncidentPipeline::Settings settings = Settings();
  settings.wrote = nullptr;  // it comes to disk twice
  auto pipeline = Start(RealDisk(), std::move(settings));
  pipeline->Keep(Incident(kFirst)).wait();
  const Acknowledgement ann = {.at = absl::FromUnixSeconds(1), .reason = "known", .by = "ann"};
  EXPECT_TRUE(pipeline->Acknowledge(kFirst, ann).get().ok());
  EXPECT_TRUE(absl::IsNotFound(pipeline->Acknowledge(kSecond, ann).get()));
  IncidentFiles later = Incident(kFirst, 7);
  later.revision = 2;
  EXPECT_TRUE(pipeline->Keep(std::move(later)).get().ok());
  const IncidentArchive archive(root_);
  EXPECT_EQ(archive.AcknowledgementOf(kFirst)->by, "ann");
  EXPECT_EQ(archive.AcknowledgementOf(kFirst)->reason, "known");
  EXPECT_EQ(fs::file_size(root_ + "/incidents/" + kFirst + "/capture"), 7u);
  std::ofstream(root_ + "/incidents/" + kFirst + "/acknowledged.json") << "{\"by\": 3}";
  EXPECT_FALSE(archive.AcknowledgementOf(kFirst).has_value());
}

TEST_F(IncidentPipelineTest, WhatNeverCameToDiskIsNamedAtTheEnd) {
  FaultyDisk disk;
  disk.Refuse(absl::PermissionDeniedError("Read-only file system"));
  auto pipeline = Start(disk, Settings());
  pipeline->Keep(Incident(kFirst)).wait();
  pipeline.reset();
  EXPECT_THAT(log_.str(), AllOf(HasSubstr("LOST"), HasSubstr(kFirst)));
}

TEST_F(IncidentPipelineTest, TheEndIsALastTry) {
  FaultyDisk disk;
  disk.Refuse(absl::PermissionDeniedError("Read-only file system"));
  IncidentPipeline::Settings settings = Settings();
  settings.pending.first_retry = settings.pending.longest_retry = absl::Hours(1);
  auto pipeline = Start(disk, std::move(settings));
  pipeline->Keep(Incident(kFirst)).wait();
  disk.Refuse(absl::OkStatus());
  pipeline.reset();
  EXPECT_TRUE(OnDisk(kFirst));
  EXPECT_THAT(log_.str(), Not(HasSubstr("LOST")));
}

TEST_F(IncidentPipelineTest, BeyondTheBoundsTheOldestIsGivenUpLoudly) {
  FaultyDisk disk;
  disk.Refuse(absl::PermissionDeniedError("Read-only file system"));
  IncidentPipeline::Settings settings = Settings();
  settings.pending.incidents = 1;
  settings.pending.first_retry = settings.pending.longest_retry = absl::Hours(1);
  auto pipeline = Start(disk, std::move(settings));
  pipeline->Keep(Incident(kFirst)).wait();
  pipeline->Keep(Incident(kSecond)).wait();
  EXPECT_EQ(pipeline->Report().counters.given_up, 1);
  EXPECT_EQ(pipeline->Report().pending_incidents, 1);
  disk.Refuse(absl::OkStatus());
  EXPECT_TRUE(pipeline->Keep(Incident(kThird)).get().ok());
  pipeline.reset();
  EXPECT_FALSE(OnDisk(kFirst));
  EXPECT_THAT(log_.str(), HasSubstr(std::string("incident ") + kFirst + ": GIVEN UP"));
}

TEST_F(IncidentPipelineTest, DiskThatHangsHoldsUpNobody) {
  // The thread that is left behind hangs in it until the program ends: let go, it would
  // write to the log of a test that is over.
  static FaultyDisk& disk = *new FaultyDisk;
  disk.Hang();
  IncidentPipeline::Settings settings = Settings();
  settings.patience = absl::ZeroDuration();
  settings.pending.incidents = 2;
  auto pipeline = Start(disk, std::move(settings));
  disk.AwaitHanging();
  auto first = pipeline->Keep(Incident(kFirst));
  const auto second = pipeline->Keep(Incident(kSecond));
  const auto third = pipeline->Keep(Incident(kThird));
  EXPECT_TRUE(absl::IsResourceExhausted(first.get()));
  EXPECT_EQ(second.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_THAT(pipeline->Report().problem, HasSubstr("has not answered"));
  EXPECT_EQ(pipeline->Report().pending_incidents, 2);
  pipeline->Watch();
  pipeline->Watch();
  EXPECT_EQ(pipeline->Report().counters.hangs, 1);
  EXPECT_THAT(log_.str(), HasSubstr("does not answer"));
  pipeline.reset();
  EXPECT_THAT(log_.str(),
              AllOf(HasSubstr("LOST"), HasSubstr(kSecond), HasSubstr(kThird), HasSubstr("hangs")));
}

TEST_F(IncidentPipelineTest, DiskThatHungTakesAllOfThemOnceItAnswers) {
  FaultyDisk disk;
  disk.Hang();
  auto pipeline = Start(disk, Settings());
  disk.AwaitHanging();
  auto first = pipeline->Keep(Incident(kFirst));
  pipeline->Watch();  // within its patience
  EXPECT_EQ(pipeline->Report().counters.hangs, 0);
  disk.Release();
  EXPECT_TRUE(first.get().ok());
  EXPECT_EQ(pipeline->Report().problem, "");
}

TEST_F(IncidentPipelineTest, WhatACrashLeftHalfWrittenIsRemovedLoudly) {
  fs::create_directories(root_ + "/incidents/.writing-" + kFirst);
  auto pipeline = Start(RealDisk(), Settings());
  pipeline->Keep(Incident(kSecond)).wait();
  EXPECT_EQ(pipeline->Report().counters.half_written_removed, 1);
  pipeline.reset();
  EXPECT_FALSE(fs::exists(root_ + "/incidents/.writing-" + kFirst));
  EXPECT_THAT(log_.str(), HasSubstr(std::string("incident ") + kFirst + ": half written"));
}

TEST_F(IncidentPipelineTest, RetentionIsAppliedAtTheStartAndAfterEachIncident) {
  IncidentStore(root_, RealDisk()).Write(kFirst, Incident(kFirst).files).IgnoreError();
  IncidentStore(root_, RealDisk()).Write(kSecond, Incident(kSecond).files).IgnoreError();
  IncidentPipeline::Settings settings = Settings();
  settings.retention.incidents = 1;
  auto pipeline = Start(RealDisk(), std::move(settings));
  pipeline->Keep(Incident(kThird)).wait();
  EXPECT_FALSE(OnDisk(kFirst));
  EXPECT_TRUE(OnDisk(kThird));
  pipeline.reset();  // what follows a write has been done
  EXPECT_FALSE(OnDisk(kSecond));
  EXPECT_THAT(log_.str(), AllOf(HasSubstr(std::string(kFirst) + ": removed"),
                                HasSubstr(std::string(kSecond) + ": removed")));
}

TEST_F(IncidentPipelineTest, DirectoryOfANewerVersionKeepsNothingButSaysSo) {
  std::ofstream(root_ + "/version") << "2\n";
  auto pipeline = Start(RealDisk(), Settings());
  EXPECT_TRUE(absl::IsUnimplemented(pipeline->Keep(Incident(kFirst)).get()));
  EXPECT_THAT(pipeline->Report().problem, HasSubstr("newer rapideye-coordinator"));
  EXPECT_FALSE(fs::exists(root_ + "/incidents"));
  fs::remove(root_ + "/version");
  wrote_->get_future().wait();
  EXPECT_TRUE(OnDisk(kFirst));
}

TEST_F(IncidentPipelineTest, DirectoryThatVanishedIsMadeAgain) {
  IncidentPipeline::Settings settings = Settings();
  settings.wrote = nullptr;
  auto pipeline = Start(RealDisk(), std::move(settings));
  pipeline->Keep(Incident(kFirst)).wait();
  fs::remove_all(root_);
  EXPECT_TRUE(pipeline->Keep(Incident(kSecond)).get().ok());
  EXPECT_TRUE(OnDisk(kSecond));
}

// The same tests against a real file system that is full or read-only: root ignores file modes,
// so the test mounts a file system of its own, in a mount namespace of this thread and of the
// threads that it starts.
class RealDiskTest : public IncidentPipelineTest {
 protected:
  void SetUp() override {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("rapideye", root_.c_str(), "tmpfs", 0, "size=128k") != 0) {
      GTEST_SKIP() << "mounting a small tmpfs needs root";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount2(root_.c_str(), MNT_DETACH);
  }

  bool mounted_ = false;
};

TEST_F(RealDiskTest, FullDisk) {
  std::ofstream(root_ + "/somebody-elses") << std::string(64 << 10, 'x');
  auto pipeline = Start(RealDisk(), Settings());
  EXPECT_TRUE(absl::IsResourceExhausted(pipeline->Keep(Incident(kFirst, 80 << 10)).get()));
  EXPECT_THAT(pipeline->Report().problem, HasSubstr("No space left on device"));
  fs::remove(root_ + "/somebody-elses");
  wrote_->get_future().wait();
  EXPECT_EQ(fs::file_size(root_ + "/incidents/" + kFirst + "/capture"), 80 << 10);
}

TEST_F(RealDiskTest, ReadOnlyDisk) {
  ASSERT_EQ(mount(nullptr, root_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=128k"), 0);
  auto pipeline = Start(RealDisk(), Settings());
  EXPECT_TRUE(absl::IsPermissionDenied(pipeline->Keep(Incident(kFirst)).get()));
  EXPECT_THAT(pipeline->Report().problem,
              AllOf(HasSubstr("Read-only file system"), HasSubstr("make --state-dir writable")));
  ASSERT_EQ(mount(nullptr, root_.c_str(), nullptr, MS_REMOUNT, "size=128k"), 0);
  wrote_->get_future().wait();
  EXPECT_TRUE(OnDisk(kFirst));
}

}  // namespace
}  // namespace rapideye::coordinator
