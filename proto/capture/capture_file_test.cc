// Captures written and read back, and the rules of the file as a whole.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/filled_message.h"

namespace rapideye::wire {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;
using testing::StartsWith;

const WriteOptions kAllOptions[] = {
    {.encoding = Encoding::kJsonLines, .gzip = false},
    {.encoding = Encoding::kJsonLines, .gzip = true},
    {.encoding = Encoding::kBinary, .gzip = false},
    {.encoding = Encoding::kBinary, .gzip = true},
};

absl::StatusOr<Capture> Read(const std::string& bytes) {
  std::istringstream in(bytes);
  return ReadCapture(in);
}

std::string ErrorOf(const std::string& bytes) {
  absl::StatusOr<Capture> capture = Read(bytes);
  if (capture.ok()) return "accepted";
  EXPECT_EQ(capture.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(capture.status().message());
}

// Equal up to the order of snapshots, which files do not keep.
void ExpectEqual(const Capture& a, const Capture& b) {
  EXPECT_TRUE(MessageDifferencer::Equals(HeaderToWire(a.header), HeaderToWire(b.header)));
  ASSERT_EQ(a.snapshots.size(), b.snapshots.size());
  for (const Snapshot& snapshot : a.snapshots) {
    auto twin = std::find_if(b.snapshots.begin(), b.snapshots.end(), [&](const Snapshot& other) {
      return other.worker == snapshot.worker;
    });
    ASSERT_NE(twin, b.snapshots.end());
    std::string difference;
    MessageDifferencer differencer;
    differencer.ReportDifferencesToString(&difference);
    EXPECT_TRUE(differencer.Compare(SnapshotToWire(snapshot), SnapshotToWire(*twin))) << difference;
  }
}

std::string Written(const Capture& capture, const WriteOptions& options = {}) {
  absl::StatusOr<std::string> bytes = WriteCapture(capture, options);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

constexpr char kHeader[] =
    R"({"header":{"version":1,"job":"j","expectedWorkers":[{"slice":0,"task":0,"host":"h"},)"
    R"({"slice":0,"task":1,"host":"i"}]}})";
constexpr char kSnapshot0[] = R"({"snapshot":{"worker":{"slice":0,"task":0},"host":"h"}})";
constexpr char kSnapshot1[] = R"({"snapshot":{"worker":{"slice":0,"task":1},"host":"i"}})";

TEST(CaptureFileTest, EveryFieldSurvivesEveryEncoding) {
  const Capture capture = FilledCapture();
  for (const WriteOptions& options : kAllOptions) {
    const std::string bytes = Written(capture, options);
    absl::StatusOr<Capture> back = Read(bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    ExpectEqual(capture, *back);
    EXPECT_EQ(Written(*back, options), bytes);
  }
}

TEST(CaptureFileTest, SamplesSurviveEveryEncoding) {
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("RAPIDEYE_TEST_DATA"))) {
    if (entry.path().extension() != ".jsonl") continue;
    SCOPED_TRACE(entry.path());
    ++samples;
    absl::StatusOr<Capture> capture = ReadCaptureFile(entry.path());
    ASSERT_TRUE(capture.ok()) << capture.status();
    EXPECT_FALSE(capture->snapshots.empty());
    for (const WriteOptions& options : kAllOptions) {
      absl::StatusOr<Capture> back = Read(Written(*capture, options));
      ASSERT_TRUE(back.ok()) << back.status();
      ExpectEqual(*capture, *back);
    }
  }
  EXPECT_GE(samples, 11);
}

TEST(CaptureFileTest, WritesWhatWasReportedZerosIncluded) {
  Capture capture;
  capture.header.job = "a\"b\n";
  capture.header.expected_workers = {{.id = {0, 0}, .host = "h", .node = {}}};
  Snapshot& snapshot = capture.snapshots.emplace_back();
  snapshot.host = "h";
  snapshot.runtime.state = RuntimeState::kTimedOut;
  Core& core = snapshot.cores.emplace_back();
  core.chip = 0;
  core.launch_id = -1;
  core.sequencers.emplace_back().pc = 0;
  EXPECT_EQ(Written(capture),
            R"({"header":{"version":1,"job":"a\"b\n","expectedWorkers":)"
            R"([{"slice":0,"task":0,"host":"h"}]}})"
            "\n"
            R"({"snapshot":{"worker":{"slice":0,"task":0},"host":"h",)"
            R"("runtime":{"state":"TIMED_OUT"},)"
            R"("cores":[{"chip":0,"index":0,"launchId":-1,"sequencers":[{"index":0,"pc":0}]}]}})"
            "\n");
}

TEST(CaptureFileTest, TheOrderOfSnapshotsDoesNotShow) {
  Capture capture = FilledCapture();
  const std::string bytes = Written(capture);
  std::swap(capture.snapshots[0], capture.snapshots[1]);
  EXPECT_EQ(Written(capture), bytes);
}

TEST(CaptureFileTest, RefusesToWriteWhatNobodyReads) {
  Capture capture = FilledCapture();
  LogEvent event;
  event.text = std::string(1024 * 1024, '\x01');  // six bytes each in JSON
  capture.snapshots[1].log_events.assign(12, event);
  EXPECT_EQ(WriteCapture(capture, {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(WriteCapture(capture, {.encoding = Encoding::kBinary, .gzip = true}).ok());
  capture.snapshots[1].log_events.resize(8);
  EXPECT_EQ(ErrorOf(Written(capture)), "accepted");
}

TEST(CaptureFileTest, LinesEndWithNewlinesTheLastMayNot) {
  const std::string lines = absl::StrCat(kHeader, "\n", kSnapshot0);
  EXPECT_EQ(ErrorOf(lines), "accepted");
  EXPECT_EQ(ErrorOf(absl::StrCat(lines, "\n")), "accepted");
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\r\n", kSnapshot0, "\r\n")), "accepted");
  EXPECT_EQ(ErrorOf(absl::StrCat(lines, "\n\n")), "line 3: an empty line");
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n\n", kSnapshot0)), "line 2: an empty line");
  EXPECT_EQ(ErrorOf(absl::StrCat("\n", lines)), "line 1: an empty line");
}

TEST(CaptureFileTest, AnEmptyFileIsNoCapture) {
  EXPECT_EQ(ErrorOf(""), "line 1: the file is empty, neither a capture nor a log");
  EXPECT_EQ(ErrorOf(kHeader), "accepted");  // everybody missing, and that is evidence
}

TEST(CaptureFileTest, OneHeaderAndItComesFirst) {
  EXPECT_EQ(ErrorOf(absl::StrCat(kSnapshot0, "\n", kHeader)),
            "line 1: a snapshot before the header");
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n", kHeader)), "line 2: header: a second one");
}

TEST(CaptureFileTest, NamesTheLineOfAWorkerThatDoesNotBelong) {
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n", kSnapshot0, "\n", kSnapshot1)), "accepted");
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n", kSnapshot0, "\n", kSnapshot0)),
            "line 3: snapshot.worker: a second snapshot of worker slice 0 task 0");
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n", R"({"snapshot":{"worker":{"slice":1}}})")),
            "line 2: snapshot.worker: worker slice 1 task 0 is not among the expected workers");
}

TEST(CaptureFileTest, NamesLineAndField) {
  EXPECT_EQ(ErrorOf(absl::StrCat(kHeader, "\n",
                                 R"({"snapshot":{"worker":{},"cores":[{},{"stuckMs":-4}]}})")),
            "line 2: snapshot.cores[1].stuckMs: -4 is negative");
}

TEST(CaptureFileTest, FilesThatAreNotThere) {
  EXPECT_EQ(ReadCaptureFile("/nonexistent/capture").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadCaptureFile("/").status().code(), absl::StatusCode::kInternal);
}

TEST(BinaryCaptureTest, ToldApartByContentEvenIfItBeginsWithABrace) {
  // A header record of 123 bytes begins with the byte '{'.
  Capture capture;
  capture.header.expected_workers = {{.id = {0, 0}, .host = "h", .node = {}}};
  std::string bytes = Written(capture, {.encoding = Encoding::kBinary});
  while (bytes[0] != '{') {
    capture.header.job += 'j';
    bytes = Written(capture, {.encoding = Encoding::kBinary});
    ASSERT_LT(bytes.size(), 200u);
  }
  absl::StatusOr<Capture> back = Read(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->header.job, capture.header.job);
}

TEST(BinaryCaptureTest, WrongLengthsAreErrors) {
  const std::string bytes = Written(FilledCapture(), {.encoding = Encoding::kBinary});
  EXPECT_EQ(ErrorOf(bytes), "accepted");
  EXPECT_THAT(ErrorOf(bytes.substr(0, bytes.size() - 1)), StartsWith("record 3: cut short: "));
  std::string longer = bytes;
  ++longer[0];
  EXPECT_THAT(ErrorOf(longer), StartsWith("record 1: "));
  EXPECT_THAT(ErrorOf(bytes + '\x80'), HasSubstr("record 4: its length is cut short"));
  EXPECT_THAT(ErrorOf(bytes + std::string("\xFF\xFF\xFF\xFF\x0F", 5)),
              StartsWith("record 4: longer than 67108864 bytes"));
  EXPECT_EQ(ErrorOf(bytes + '\0'), "record 4: holds neither a header nor a snapshot");
}

TEST(BinaryCaptureTest, ManyEmptyObjectsRunOutOfMemoryTheyMayUse) {
  // Two bytes on the wire are some two hundred in memory.
  std::string cores;
  for (int i = 0; i < 1'500'000; ++i) cores += std::string("\x5A\x00", 2);
  auto prefixed = [](char tag, const std::string& body) {
    std::string length;
    for (size_t left = body.size(); left > 0 || length.empty(); left >>= 7) {
      length += static_cast<char>((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
    }
    return std::string(1, tag) + length + body;
  };
  auto record = [&](const std::string& body) {
    return prefixed(0, prefixed(0x12, body)).substr(1);
  };
  const std::string header = Written({}, {.encoding = Encoding::kBinary});
  EXPECT_THAT(ErrorOf(header + record(cores)), HasSubstr("record 2: the record needs more than"));
  EXPECT_THAT(ErrorOf(header + record(cores.substr(0, 100))),
              StartsWith("record 2: snapshot.worker: is missing"));
}

TEST(GzipCaptureTest, MembersJoinAndCutOnesAreErrors) {
  const Capture capture = FilledCapture();
  const std::string whole = Written(capture, {.gzip = true});
  EXPECT_EQ(ErrorOf(whole), "accepted");
  EXPECT_THAT(ErrorOf(whole.substr(0, whole.size() - 1)), HasSubstr("gzip: the file is cut short"));
  EXPECT_THAT(ErrorOf(whole.substr(0, whole.size() / 2)), HasSubstr("gzip: the file is cut short"));
  EXPECT_THAT(ErrorOf(whole.substr(0, 5)), HasSubstr("gzip: the file is cut short"));
  EXPECT_THAT(ErrorOf(whole + "x"), StartsWith("line 4: gzip: "));

  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_THAT(ErrorOf(damaged), HasSubstr("gzip: broken data"));

  // A second member goes on where the first ended.
  Capture header_only{.header = capture.header, .snapshots = {}};
  Capture other = header_only;
  other.header.version = 1;
  const std::string two = Written(header_only, {.gzip = true}) + whole;
  EXPECT_EQ(ErrorOf(two), "line 2: header: a second one");
}

TEST(GzipCaptureTest, BytesHaveNoTimeInThem) {
  const std::string bytes = Written(FilledCapture(), {.gzip = true});
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x1F\x8B\x08\x00\x00\x00\x00\x00", 8));
}

}  // namespace
}  // namespace rapideye::wire
