// Runs `rapideye hook-test` as a shell would, with hooks of the test's own.
#include "coordinator/cli/fleet/hook_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "proto/wire/messages.h"
#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string Hook(const std::string& name, const std::string& body) {
  const std::string path = File(name, "#!/bin/sh\n" + body + "\n");
  fs::permissions(path, fs::perms::owner_all);
  return "--hook=" + path;
}

TEST(HookTestCommandTest, RunsEachHookAtEveryEventAndMarksItAsATest) {
  const Result result =
      Rapideye({"hook-test", "--format=json",
                Hook("says",
                     "cat >/dev/null; echo \"$RAPIDEYE_EVENT $RAPIDEYE_TEST $RAPIDEYE_JOB "
                     "$RAPIDEYE_REVISION <$RAPIDEYE_REMOVE_HOSTS> ${RAPIDEYE_ENDED_AT:+ended}\""),
                Hook("reads", "cat")});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  const auto runs = JsonLines(result.out);
  ASSERT_THAT(runs, SizeIs(6));
  EXPECT_EQ(runs[0]["output"], "opened 1 rapideye-hook-test 1 <> \n");
  EXPECT_EQ(runs[2]["output"], "changed 1 rapideye-hook-test 2 <> \n");
  EXPECT_EQ(runs[4]["output"], "recovered 1 rapideye-hook-test 2 <> ended\n");
  for (const auto& run : runs) {
    EXPECT_EQ(run["ok"], true);
    EXPECT_EQ(run["incident"], runs[0]["incident"]);
    EXPECT_TRUE(wire::IsIncidentId(run["incident"].get<std::string>()));
    EXPECT_GE(run["seconds"], 0.0);
  }
  const auto digest = nlohmann::json::parse(runs[1]["output"].get<std::string>());
  EXPECT_EQ(digest["test"], true);
  EXPECT_EQ(digest["incidentId"], runs[0]["incident"]);
  EXPECT_EQ(digest["removal"]["eligible"], false);
  EXPECT_EQ(digest["culprits"][0]["host"], "test-host.invalid");
}

TEST(HookTestCommandTest, TheFilesOfTheIncidentAreThereMeanwhileAndGoneAfterwards) {
  const Result result =
      Rapideye({"hook-test", Hook("finds",
                                  "file=$(sed -n 's/.*\"capture\": \"\\(.*\\)\".*/\\1/p')\n"
                                  "test -s \"$file\" && echo \"at $file\"")});
  EXPECT_EQ(result.exit_status, 0) << result.out;
  const size_t at = result.out.find("at /");
  ASSERT_NE(at, std::string::npos) << result.out;
  const size_t end = result.out.find('\n', at);
  EXPECT_FALSE(fs::exists(result.out.substr(at + 3, end - at - 3)));
}

TEST(HookTestCommandTest, OneThatFailsIsNamedAndTheOthersRun) {
  const Result result =
      Rapideye({"hook-test", Hook("fails", "echo 'no \033[31mkey'; exit 3"), Hook("works", ":")});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("FAILED"), HasSubstr("status 3"), HasSubstr("no "),
                                Not(HasSubstr("\033")), HasSubstr("ok     ")));
  const Result slow =
      Rapideye({"hook-test", "--hook-timeout=50ms", Hook("hangs", "exec sleep 60")});
  EXPECT_EQ(slow.exit_status, 1);
  EXPECT_THAT(slow.out, HasSubstr("--hook-timeout"));
}

TEST(HookTestCommandTest, WrongUse) {
  const Result none = Rapideye({"hook-test"});
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_THAT(none.err, HasSubstr("--hook"));
  EXPECT_EQ(Rapideye({"hook-test", "--hook=/none"}).exit_status, 2);
  EXPECT_EQ(Rapideye({"hook-test", "--hook-timeout=0s", Hook("any", ":")}).exit_status, 2);
}

}  // namespace
}  // namespace rapideye::cli
