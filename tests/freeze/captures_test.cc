// Whatever is made of a capture is the same, byte for byte, as when it was frozen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "classifier/classify.h"
#include "digest/content_hash.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "tests/freeze/frozen_file.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::freeze {
namespace {

namespace fs = std::filesystem;

std::string Written(const Capture& capture, wire::Encoding encoding) {
  // Before compression: zlib's bytes are its version's.
  const auto bytes = wire::WriteCapture(capture, {.encoding = encoding, .gzip = false});
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

Capture ReadAgain(const std::string& bytes) {
  std::istringstream in(bytes);
  auto capture = wire::ReadCapture(in);
  EXPECT_TRUE(capture.ok()) << capture.status();
  return capture.ok() ? *std::move(capture) : Capture();
}

// As a coordinator renders what it stores, with a clock that stands still.
digest::ReportContext Stored() {
  const std::string directory = "/var/lib/rapideye/incidents/20261003T092420Z-1a2b3c4d/";
  digest::ReportContext context;
  context.incident_id = "20261003T092420Z-1a2b3c4d";
  context.timings = digest::Timings{
      .detect_to_collect_ms = 12, .collect_ms = 340, .classify_ms = 5, .render_ms = 1};
  context.files = {.capture = directory + "capture.jsonl.gz",
                   .json = directory + "digest.json",
                   .text = directory + "digest.txt",
                   .html = directory + "digest.html",
                   .hlo = {directory + "hlo/slice0-task0.txt.gz"}};
  return context;
}

// What a coordinator's and an offline digest hold, each in all forms.
void AddDigests(const std::string& subject, const Capture& capture, FrozenFile& frozen) {
  const Verdict verdict = Classify(capture);
  const digest::Report offline = digest::BuildReport(capture, verdict, {});
  frozen.Add(subject, "digest.txt", RenderText(offline, digest::TextFormat::kClassic));
  frozen.Add(subject, "grouped.txt", RenderText(offline, digest::TextFormat::kGrouped));
  frozen.Add(subject, "explanation.txt", RenderExplanation(offline));
  frozen.Add(subject, "digest.json", RenderJson(offline, /*pretty=*/true));
  frozen.Add(subject, "line.json", RenderJson(offline, /*pretty=*/false));
  frozen.Add(subject, "digest.html", RenderHtml(offline));
  const digest::Report stored = digest::BuildReport(capture, verdict, Stored());
  frozen.Add(subject, "stored.txt", RenderText(stored, digest::TextFormat::kClassic));
  frozen.Add(subject, "stored.json", RenderJson(stored, /*pretty=*/true));
  frozen.Add(subject, "stored.html", RenderHtml(stored));
}

std::string HashText(const Capture& capture) {
  return absl::StrFormat("%016x\n", digest::ContentHash(capture));
}

std::vector<fs::path> CapturesIn(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void CompareFiles(const std::string& name, const std::string& folder, size_t count) {
  FrozenFile frozen(name, absl::StrCat("# SHA-256 of what is made of the captures in tests/",
                                       folder, ".\n# Rewritten as tests/freeze/README.md says.\n"));
  const std::vector<fs::path> paths = CapturesIn(fs::path(FrozenFolder()) / ".." / folder);
  EXPECT_EQ(paths.size(), count);
  for (const fs::path& path : paths) {
    const auto capture = wire::ReadCaptureFile(path);
    ASSERT_TRUE(capture.ok()) << path << ": " << capture.status();
    const std::string subject = path.stem();
    AddDigests(subject, *capture, frozen);
    const std::string lines = Written(*capture, wire::Encoding::kJsonLines);
    const std::string binary = Written(*capture, wire::Encoding::kBinary);
    frozen.Add(subject, "capture.jsonl", lines);
    frozen.Add(subject, "capture.pb", binary);
    frozen.Add(subject, "content-hash", HashText(*capture));
    // What was written is read as what it was.
    EXPECT_EQ(Written(ReadAgain(lines), wire::Encoding::kJsonLines), lines) << path;
    EXPECT_EQ(Written(ReadAgain(binary), wire::Encoding::kJsonLines), lines) << path;
  }
  frozen.Compare();
}

TEST(Frozen, Samples) { CompareFiles("samples", "samples", 11); }

TEST(Frozen, HardCaptures) { CompareFiles("hard", "samples/hard", 12); }

// Samples leave many fields out.
TEST(Frozen, EveryFieldOfACapture) { CompareFiles("every-field", "freeze/captures", 1); }

// All kinds, with and without noise, exporters, poll times and aborted runtimes.
constexpr int kScenariosPerKind = 48;
constexpr uint64_t kFirstSeed = 14'000'000;

scenarios::Options OptionsOf(int index) {
  scenarios::Options options;
  options.noise = scenarios::Noisy();
  if (index % 4 == 0) options.noise = scenarios::NoiseFree();
  if (index % 4 == 1) options.noise = scenarios::Heavy();
  options.transfers = index % 5 == 0;
  options.ici_links = index % 5 == 0;
  if (index % 3 == 0) options.wavefront_poll_ms = 250;
  options.aborted = index % 7 == 0;
  return options;
}

TEST(Frozen, Scenarios) {
  if (!kGeneratesAsFrozen) GTEST_SKIP() << kGeneratesOtherwise;
  constexpr size_t kDigits = 16;
  FrozenFile frozen("scenarios",
                    "# First 16 digits of the SHA-256 of what is made of generated captures: kind\n"
                    "# and number as in tests/freeze/captures_test.cc, which draws the options.\n"
                    "# Rewritten as tests/freeze/README.md says.\n",
                    kDigits);
  for (const scenarios::Kind kind : scenarios::AllKinds()) {
    for (int i = 0; i < kScenariosPerKind; ++i) {
      const std::string subject = absl::StrFormat("%s-%02d", scenarios::KindName(kind), i);
      const Capture generated =
          Generate(kind, kFirstSeed + static_cast<uint64_t>(i), OptionsOf(i)).capture;
      // As every capture that is diagnosed: it has been written and read, half of them in
      // either encoding.
      const std::string lines = Written(generated, wire::Encoding::kJsonLines);
      const std::string binary = Written(generated, wire::Encoding::kBinary);
      const Capture capture = ReadAgain(i % 2 == 0 ? lines : binary);
      // Not EXPECT_EQ: it would look for the differences of two megabytes.
      const bool same = Written(capture, wire::Encoding::kJsonLines) == lines;
      EXPECT_TRUE(same) << subject << ": what was written is not read as what it was";
      const digest::Report report = digest::BuildReport(capture, Classify(capture), {});
      frozen.Add(subject, "capture", absl::StrCat(lines, binary));
      frozen.Add(subject, "content", HashText(capture));
      frozen.Add(subject, "text",
                 absl::StrCat(RenderText(report, digest::TextFormat::kClassic), "\n",
                              RenderText(report, digest::TextFormat::kGrouped), "\n",
                              RenderExplanation(report)));
      frozen.Add(subject, "json", RenderJson(report, /*pretty=*/true));
      frozen.Add(subject, "html", RenderHtml(report));
    }
  }
  frozen.Compare();
}

}  // namespace
}  // namespace rapideye::freeze
