#include <gmock/gmock.h>

#include <filesystem>

#include "tests/e2e/fixture.h"

namespace rapideye::testbed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Divergence = EndToEndTest;

TEST_F(Divergence, DifferentModule) {
  const ExperimentOptions options = Options(/*programs=*/2, /*seed=*/5);
  ExpectRightVerdict(options, "different-module");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
}

TEST_F(Divergence, Fingerprint) {
  const ExperimentOptions options = Options(/*programs=*/1, /*seed=*/6);
  ExpectRightVerdict(options, "fingerprint");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
  ASSERT_TRUE(outcome_.incident.has_value());
  // The first operation computes nothing; the code of the second has another size.
  const std::string& compared = outcome_.incident->finding.hlo_comparison;
  EXPECT_THAT(compared, HasSubstr(R"("outcome":"DIFFERENT")"));
  EXPECT_THAT(compared, HasSubstr(R"("position":3)"));
  EXPECT_THAT(compared, HasSubstr(R"(fusion.2 = f32[8,128])"));
  EXPECT_THAT(compared, HasSubstr(R"(fusion.4 = f32[8,128])"));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("first differs at instruction 3 of main."));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("where they first differ"));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("libtpu differs: build cl_829516930 on slice "));
  EXPECT_THAT(outcome_.incident->text, HasSubstr(", build cl_933746096 on slice "));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("1. Install one build of libtpu everywhere"));
  int texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(outcome_.incident->directory)) {
    texts += entry.path().filename().string().starts_with("hlo-") ? 1 : 0;
  }
  EXPECT_EQ(texts, 2);
}

TEST_F(Divergence, FingerprintByAFlag) {
  const ExperimentOptions options = Options(/*programs=*/1, /*seed=*/8);
  ExpectRightVerdict(options, "fingerprint-flag");
  ASSERT_TRUE(outcome_.incident.has_value());
  const std::string& text = outcome_.incident->text;
  EXPECT_THAT(text, HasSubstr("flag xla_tpu_scoped_vmem_limit_kib is 65536 on slice "));
  EXPECT_THAT(text, HasSubstr(" and 16384 on slice "));
  EXPECT_THAT(text, HasSubstr("1. Compile with the same flags everywhere"));
  EXPECT_THAT(text, Not(HasSubstr("libtpu differs")));
  EXPECT_THAT(text, Not(HasSubstr("train.py:39")));
}

TEST_F(Divergence, FingerprintByTheScript) {
  const ExperimentOptions options = Options(/*programs=*/1, /*seed=*/9);
  ExpectRightVerdict(options, "fingerprint-source");
  ASSERT_TRUE(outcome_.incident.has_value());
  const std::string& text = outcome_.incident->text;
  EXPECT_THAT(text, HasSubstr("train.py:39: batch: f32[16,128] on slice "));
  EXPECT_THAT(text, HasSubstr(" against batch: f32[8,128] on slice "));
  EXPECT_THAT(text, HasSubstr("1. Look at train.py:39"));
  EXPECT_THAT(text, Not(HasSubstr("libtpu differs")));
  EXPECT_THAT(text, Not(HasSubstr("flag xla_")));
}

TEST_F(Divergence, FingerprintWithoutDumps) {
  ExperimentOptions options = Options(/*programs=*/1, /*seed=*/7);
  options.job.hlo_dumps = false;
  options.healthy = absl::Seconds(1);
  ExpectRightVerdict(options, "fingerprint");
  EXPECT_LE(outcome_.latency, LatencyBound(options.job));
  ASSERT_TRUE(outcome_.incident.has_value());
  EXPECT_THAT(outcome_.incident->finding.hlo_comparison,
              HasSubstr(R"("outcome":"NOT_COMPARABLE")"));
  EXPECT_THAT(outcome_.incident->text, HasSubstr("--hlo-dump-dir"));
  EXPECT_THAT(outcome_.incident->text, Not(HasSubstr("first differs")));
}

TEST_F(Divergence, OrderOfLaunches) {
  ExpectRightVerdict(Options(/*programs=*/2, /*seed=*/21), "launch-order");
}

}  // namespace
}  // namespace rapideye::testbed
