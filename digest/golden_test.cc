// Compares what the renderers print of the example cases with the files in
// tests/golden/digest. RAPIDEYE_REWRITE_GOLDENS=1 rewrites them and fails, so
// that a rewrite is always looked at.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "digest/digest.h"
#include "proto/capture/capture_reader.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

std::string GoldenPath(const std::string& file) {
  const char* directory = std::getenv("RAPIDEYE_TEST_DATA");
  return std::string(directory ? directory : "tests/golden/digest") + "/" + file;
}

void CompareWithGolden(const std::string& file, const std::string& actual) {
  const std::string path = GoldenPath(file);
  if (std::getenv("RAPIDEYE_REWRITE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    ADD_FAILURE() << "rewrote " << path << ": look at the difference";
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << " is missing: run with RAPIDEYE_REWRITE_GOLDENS=1";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "differs from " << path;
}

std::string Lines(const ExampleCase& example, const Report& report) {
  return "input: " + example.name + ": " + example.description + "\n\n== classic ==\n" +
         RenderText(report, TextFormat::kClassic) + "\n== grouped ==\n" +
         RenderText(report, TextFormat::kGrouped) + "\n== explanation ==\n" +
         RenderExplanation(report);
}

class GoldenTest : public testing::TestWithParam<ExampleCase> {};

TEST_P(GoldenTest, Matches) {
  const ExampleCase& example = GetParam();
  const Report report = BuildReport(example.capture, example.verdict, {});
  CompareWithGolden(example.name + ".txt", Lines(example, report));
  CompareWithGolden(example.name + ".json", RenderJson(report, /*pretty=*/true) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Examples, GoldenTest, testing::ValuesIn(ExampleCases()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// Fields that only a coordinator adds: the incident's id, timings, files.
TEST(GoldenTest, StoredIncident) {
  ExampleCase example = ExampleCases().front();
  ReportContext context;
  context.incident_id = "20261003T092420Z-1a2b3c4d";
  context.timings = Timings{12, 340, 5, 1};
  const std::string directory = "/var/lib/rapideye/incidents/20261003T092420Z-1a2b3c4d/";
  context.files = {directory + "capture.jsonl.gz", directory + "digest.json",
                   directory + "digest.txt", directory + "digest.html"};
  const Report report = BuildReport(example.capture, example.verdict, context);
  example.name = "stored-incident";
  example.description = "as bad-tpu-chip, written by a coordinator";
  CompareWithGolden(example.name + ".txt", Lines(example, report));
  CompareWithGolden(example.name + ".json", RenderJson(report, /*pretty=*/true) + "\n");
}

// Samples get fixed verdicts: the test compares digests, and must not depend on the
// classifier's opinion of the sample.
void CompareSample(const std::string& sample, const Verdict& verdict) {
  const absl::StatusOr<Capture> capture =
      wire::ReadCaptureFile(GoldenPath("../../samples/" + sample + ".jsonl"));
  ASSERT_TRUE(capture.ok()) << capture.status();
  const Report report = BuildReport(*capture, verdict, {});
  CompareWithGolden(
      "sample-" + sample + ".txt",
      Lines({"sample-" + sample, "tests/samples/" + sample + ".jsonl", {}, {}}, report));
  CompareWithGolden("sample-" + sample + ".json", RenderJson(report, /*pretty=*/false) + "\n");
}

TEST(GoldenTest, SampleOfABadSparseCore) {
  Verdict verdict;
  verdict.cause = Cause::kBadTpuChip;
  verdict.detail = Detail::kSparseCore;
  verdict.confidence = 0.8;
  Culprit culprit;
  culprit.worker = {0, 1};
  culprit.host = "v5p-pool-s0-w1";
  culprit.chip = 1;
  culprit.core_type = CoreType::kSparseCore;
  verdict.culprits = {culprit};
  CompareSample("bad-sc", verdict);
}

TEST(GoldenTest, SampleOfABrokenLink) {
  Verdict verdict;
  verdict.cause = Cause::kNetworkingIssue;
  verdict.detail = Detail::kDcnLink;
  verdict.confidence = 0.8;
  verdict.culprits.resize(2);
  verdict.culprits[0].worker = {0, 3};
  verdict.culprits[1].worker = {1, 3};
  verdict.links = {{{0, 3}, {1, 3}, std::nullopt, ""}};
  CompareSample("dcn-link", verdict);
}

}  // namespace
}  // namespace rapideye::digest
