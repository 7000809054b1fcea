// rapideye redact, run as a shell would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNamedCapture[] =
    R"x({"header":{"version":1,"job":"llama-70b","expectedWorkers":[{"slice":0,"task":0,"host":"pool-w0"},{"slice":0,"task":1,"host":"pool-w1"}]}}
{"snapshot":{"worker":{"slice":0,"task":0},"host":"pool-w0","hardware":"9917","runtime":{"state":"TIMED_OUT","detail":"no answer of pool-w1 (10.1.2.3) to --token=abc123def"},"stacks":[{"thread":"MainThread","frames":["load (/home/alice/exp/data.py:9)"]}]}}
)x";

std::string CauseOf(const std::string& path) {
  const auto lines = JsonLines(Rapideye({"diagnose", path}).out);
  return lines.empty() ? "none" : lines[0]["cause"].get<std::string>();
}

TEST(RedactTest, NamesAndSecretsAreGoneAndTheVerdictIsTheSame) {
  const std::string path = File("secret.jsonl", kNamedCapture);
  const Result result = Rapideye({"redact", path});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* name : {"pool-w0", "pool-w1", "llama", "9917", "alice", "10.1.2.3", "abc123"}) {
    EXPECT_THAT(result.out, Not(HasSubstr(name)));
  }
  EXPECT_THAT(result.out, AllOf(HasSubstr("anon-host-0001"), HasSubstr("anon-job-0001"),
                                HasSubstr("--token=[redacted]"), HasSubstr("data.py:9")));
  const std::string redacted = File("redacted.jsonl", result.out);
  EXPECT_EQ(CauseOf(redacted), CauseOf(path));
  EXPECT_EQ(Rapideye({"redact", redacted}).out, result.out) << "once is enough";
}

TEST(RedactTest, WritesNewFilesOnly) {
  const std::string path = File("one.jsonl", kNamedCapture);
  const std::string other = File("two.jsonl", kNamedCapture);
  const std::string folder = TempPath("redacted");
  std::filesystem::remove_all(folder);
  EXPECT_THAT(Rapideye({"redact", path, other, "--output=" + folder}).err,
              HasSubstr("has to be a directory"));
  std::filesystem::create_directory(folder);
  const Result both = Rapideye({"redact", path, other, "--output=" + folder});
  ASSERT_EQ(both.exit_status, 0) << both.err;
  const std::string written = folder + "/" + std::filesystem::path(path).filename().string();
  EXPECT_THAT(Slurp(written), HasSubstr("anon-host-0002"));
  const Result again = Rapideye({"redact", path, "--output=" + written});
  EXPECT_EQ(again.exit_status, 2);
  EXPECT_THAT(again.err, HasSubstr("exists already"));
  EXPECT_EQ(Rapideye({"redact", path, "--output=" + folder + "/new.pb.gz"}).exit_status, 0);
  EXPECT_EQ(CauseOf(folder + "/new.pb.gz"), CauseOf(path));
}

TEST(RedactTest, BrokenCapturesAndPatternsAreNamed) {
  const std::string broken = File("broken.jsonl", "{}\n");
  EXPECT_EQ(Rapideye({"redact", broken}).exit_status, 2);
  EXPECT_THAT(Rapideye({"redact", broken}).err, HasSubstr("broken.jsonl: line 1"));
  const Result pattern = Rapideye({"redact", File("good.jsonl", kNamedCapture), "--redact=("});
  EXPECT_EQ(pattern.exit_status, 2);
  EXPECT_THAT(pattern.err, HasSubstr("--redact: the pattern '('"));
}

}  // namespace
}  // namespace rapideye::cli
