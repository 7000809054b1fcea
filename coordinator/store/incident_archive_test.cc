#include "coordinator/store/incident_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "coordinator/core/limits.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_writer.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kId[] = "20261120T124419Z-5dc4d1c8";
constexpr char kDigest[] = R"({"schemaVersion":1,"incidentId":"20261120T124419Z-5dc4d1c8",
"job":"llama","detectedAt":"2026-11-20T12:44:19.139Z","trigger":"no-progress",
"cause":"BAD_TPU_CHIP","detail":"TENSOR_CORE","confidence":0.97,"headline":"Bad.",
"sentence":"h1 chip 2 stopped.",
"culprits":[{"slice":0,"task":1,"host":"h1","why":"x"},{"slice":0,"task":2,"host":"h1"}],
"tpuStates":[{"positions":[]}]})";

std::string SmallCapture() {
  Capture capture;
  capture.header.job = "llama";
  capture.header.expected_workers = {{.id = {0, 0}, .host = "h0", .node = {}}};
  Snapshot snapshot;
  snapshot.worker = {0, 0};
  snapshot.host = "h0";
  snapshot.runtime.state = RuntimeState::kServing;
  capture.snapshots.push_back(snapshot);
  return wire::WriteCapture(capture, {.encoding = wire::Encoding::kJsonLines, .gzip = true})
      .value();
}

class IncidentArchiveTest : public ::testing::Test {
 protected:
  IncidentArchiveTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-archive-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~IncidentArchiveTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& id, const std::string& file) const {
    return root_ + "/incidents/" + id + "/" + file;
  }
  void Put(const std::string& id, const std::string& file, const std::string& bytes) const {
    fs::create_directories(root_ + "/incidents/" + id);
    std::ofstream(Path(id, file), std::ios::binary) << bytes;
  }
  IncidentArchive Archive() const { return IncidentArchive(root_); }

  std::string root_;
};

TEST(IncidentIdTest, OnlyWhatTheCoordinatorMakes) {
  EXPECT_TRUE(IsIncidentId(kId));
  for (const char* text :
       {"", "..", "20261120T124419Z-5dc4d1c", "20261120T124419Z-5dc4d1c8x",
        "20261120T124419Z-5DC4D1C8", "20261120t124419z-5dc4d1c8", "20261120T124419Z-5dc4d1/8",
        "2026112/../124419Z-5dc4d1", "20261120T124419Z_5dc4d1c8"}) {
    EXPECT_FALSE(IsIncidentId(text)) << text;
  }
  EXPECT_FALSE(IsIncidentId(std::string_view("20261120T124419Z-5dc4d1c\0", 25)));
}

TEST_F(IncidentArchiveTest, NoDirectoryYetHoldsNoIncidents) {
  const auto list = Archive().List(10);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(*list, IsEmpty());
}

TEST_F(IncidentArchiveTest, DirectoryThatCannotBeReadIsAnError) {
  std::ofstream(root_ + "/incidents") << "a file";
  const auto list = Archive().List(10);
  EXPECT_FALSE(list.ok());
  EXPECT_THAT(std::string(list.status().message()), HasSubstr(root_ + "/incidents"));
}

TEST_F(IncidentArchiveTest, ListsWhatTheDigestSays) {
  Put(kId, kJsonFile, kDigest);
  const auto list = Archive().List(10);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_THAT(*list, SizeIs(1));
  const IncidentSummary& summary = list->front();
  EXPECT_EQ(summary.id, kId);
  EXPECT_EQ(summary.detected_at, "2026-11-20T12:44:19.139Z");
  EXPECT_EQ(summary.job, "llama");
  EXPECT_EQ(summary.cause, "BAD_TPU_CHIP");
  EXPECT_EQ(summary.detail, "TENSOR_CORE");
  EXPECT_EQ(VerdictOf(summary).sentence, "h1 chip 2 stopped.");
  EXPECT_EQ(summary.confidence, 0.97);
  EXPECT_THAT(summary.culprits, ElementsAre("h1"));
  EXPECT_EQ(summary.culprit_hosts, 1u);
  EXPECT_EQ(summary.problem, "");
}

TEST_F(IncidentArchiveTest, NewestFirstAndOnlyAsManyAsAsked) {
  const std::string oldest = "20251120T124419Z-ffffffff";
  const std::string newest = "20261121T000000Z-00000000";
  for (const std::string& id : {oldest, newest, std::string(kId)}) Put(id, kJsonFile, kDigest);
  EXPECT_THAT(*Archive().List(10),
              ElementsAre(Field(&IncidentSummary::id, newest), Field(&IncidentSummary::id, kId),
                          Field(&IncidentSummary::id, oldest)));
  EXPECT_THAT(*Archive().List(1), ElementsAre(Field(&IncidentSummary::id, newest)));
}

TEST_F(IncidentArchiveTest, WhatIsNoIncidentByItsNameIsLeftOut) {
  Put(".writing-20261120T124419Z-5dc4d1c8", kJsonFile, kDigest);
  Put("lost+found", kJsonFile, kDigest);
  EXPECT_THAT(*Archive().List(10), IsEmpty());
  Put(kId, kJsonFile, kDigest);
  EXPECT_THAT(*Archive().List(10), SizeIs(1));
}

TEST_F(IncidentArchiveTest, ListsBrokenIncidentsAsBroken) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"", "schemaVersion"},
      {"{", "not a JSON object"},
      {"[]", "not a JSON object"},
      {std::string(100000, '['), "not a JSON object"},
      {R"({"schemaVersion":2,"cause":"UNKNOWN"})", "schemaVersion"},
      {R"({"schemaVersion":"1","cause":"UNKNOWN"})", "schemaVersion"},
      {R"({"schemaVersion":1})", "cause"},
      {R"({"schemaVersion":1,"cause":7,"job":{},"culprits":3})", "cause"},
  };
  for (const auto& [bytes, problem] : broken) {
    if (bytes.empty()) {
      Put(kId, kTextFile, "");  // no JSON at all
    } else {
      Put(kId, kJsonFile, bytes);
    }
    const auto list = Archive().List(10);
    ASSERT_TRUE(list.ok()) << list.status();
    ASSERT_THAT(*list, SizeIs(1)) << bytes;
    EXPECT_EQ(list->front().id, kId);
    EXPECT_EQ(list->front().detected_at, "2026-11-20T12:44:19Z");
    EXPECT_THAT(list->front().problem,
                HasSubstr(bytes.empty() ? "digest.json is missing" : problem));
  }
  // Odd values where a list needs none are no harm.
  Put(kId, kJsonFile,
      R"({"schemaVersion":1,"cause":"UNKNOWN","job":{},"culprits":[1,{"host":2},{"host":"h"}]})");
  EXPECT_EQ(Archive().List(10)->front().problem, "");
  EXPECT_THAT(Archive().List(10)->front().culprits, ElementsAre("h"));
}

TEST_F(IncidentArchiveTest, AFileThatIsNoFileIsAProblemAndNoWait) {
  fs::create_directories(Path(kId, kJsonFile));
  ASSERT_EQ(mkfifo(Path(kId, kTextFile).c_str(), 0600), 0);
  fs::create_symlink("/etc/passwd", Path(kId, kHtmlFile));
  EXPECT_THAT(Archive().List(10)->front().problem, HasSubstr("not a file"));
  for (const IncidentForm form : {IncidentForm::kJson, IncidentForm::kText, IncidentForm::kHtml}) {
    EXPECT_EQ(Archive().Read(kId, form).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(IncidentArchiveTest, ARewrittenDigestIsReadAgain) {
  const IncidentArchive archive = Archive();
  Put(kId, kJsonFile, kDigest);
  EXPECT_EQ(archive.List(10)->front().cause, "BAD_TPU_CHIP");
  EXPECT_EQ(archive.List(10)->front().cause, "BAD_TPU_CHIP");
  Put(kId, kJsonFile, R"({"schemaVersion":1,"cause":"UNKNOWN"})");
  EXPECT_EQ(archive.List(10)->front().cause, "UNKNOWN");
}

TEST_F(IncidentArchiveTest, GivesEachFormAsItWasStored) {
  Put(kId, kTextFile, "text");
  Put(kId, kJsonFile, "json");
  Put(kId, kHtmlFile, "html");
  Put(kId, kCaptureFile, std::string("\0capture", 8));
  EXPECT_EQ(*Archive().Read(kId, IncidentForm::kText), "text");
  EXPECT_EQ(*Archive().Read(kId, IncidentForm::kJson), "json");
  EXPECT_EQ(*Archive().Read(kId, IncidentForm::kHtml), "html");
  EXPECT_EQ(*Archive().Read(kId, IncidentForm::kCapture), std::string("\0capture", 8));
}

TEST_F(IncidentArchiveTest, MakesFromTheCaptureWhatWasNotStored) {
  Put(kId, kCaptureFile, SmallCapture());
  EXPECT_THAT(*Archive().Read(kId, IncidentForm::kHtml),
              AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr(kId)));
  EXPECT_THAT(*Archive().Read(kId, IncidentForm::kText),
              AllOf(HasSubstr("Full error digest"), HasSubstr(kId)));
  EXPECT_THAT(*Archive().Read(kId, IncidentForm::kJson),
              AllOf(StartsWith("{"), HasSubstr("\"job\": \"llama\"")));
}

TEST_F(IncidentArchiveTest, SaysWhatIsMissing) {
  EXPECT_EQ(Archive().Read("../../etc", IncidentForm::kText).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Archive().Read(kId, IncidentForm::kText).status().code(), absl::StatusCode::kNotFound);
  fs::create_directories(root_ + "/incidents/" + kId);
  for (const IncidentForm form :
       {IncidentForm::kText, IncidentForm::kJson, IncidentForm::kHtml, IncidentForm::kCapture}) {
    const auto read = Archive().Read(kId, form);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(kCaptureFile));
  }
}

TEST_F(IncidentArchiveTest, WhatIsTooLargeIsNamedAndNotRead) {
  Put(kId, kCaptureFile, "");
  fs::resize_file(Path(kId, kCaptureFile), kMaxIncidentBytes + 1);  // sparse
  const auto read = Archive().Read(kId, IncidentForm::kCapture);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr(Path(kId, kCaptureFile)));
}

}  // namespace
}  // namespace rapideye::coordinator
