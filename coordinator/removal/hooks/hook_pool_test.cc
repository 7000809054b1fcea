#include "coordinator/removal/hooks/hook_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>

namespace rapideye::coordinator {
namespace {

using ::testing::HasSubstr;

class HookPoolTest : public ::testing::Test {
 protected:
  HookPoolTest() {
    std::string pattern = ::testing::TempDir() + "/hooks-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    options_.schedule.first_retry = absl::Milliseconds(1);
    options_.schedule.attempts = 3;
    options_.environment = {"PATH=/usr/bin:/bin", "RAPIDEYE_HOOK_FOLDER=" + folder_};
  }
  ~HookPoolTest() override { (void)!system(("rm -rf " + folder_).c_str()); }

  HookRun Call(const std::string& name, const std::string& body) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0755);
    return {.hook = path,
            .incident = "i1",
            .cause = "BAD_TPU_CHIP",
            .job = "train",
            .remove_hosts = {"host-3"},
            .digest = std::make_shared<const std::string>("{}")};
  }
  std::string Contents(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }
  HookPool::Report Keep() {
    return [this](const HookReport& report) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(report);
      changed_.notify_all();
    };
  }
  HookReport Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !reports_.empty(); });
    HookReport report = reports_.front();
    reports_.pop_front();
    return report;
  }

  std::string folder_;
  HookPool::Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HookReport> reports_;
};

TEST_F(HookPoolTest, AHookGetsDigestAndVariables) {
  HookPool runner(options_, Keep());
  ASSERT_TRUE(runner.Add(Call("hook", "cat; env | grep ^RAPIDEYE_ | sort")).ok());
  const HookReport report = Next();
  EXPECT_TRUE(report.outcome.succeeded()) << DescribeEnd(report.outcome);
  EXPECT_EQ(report.outcome.output,
            "{}RAPIDEYE_CAUSE=BAD_TPU_CHIP\nRAPIDEYE_HOOK_FOLDER=" + folder_ +
                "\nRAPIDEYE_INCIDENT=i1\nRAPIDEYE_JOB=train\nRAPIDEYE_REMOVE_HOSTS=host-"
                "3\nRAPIDEYE_REMOVE_NODES=\n");
  EXPECT_EQ(report.attempt, 1);
  EXPECT_FALSE(report.retry_in.has_value());
}

TEST_F(HookPoolTest, AFailureIsReportedAndTriedAgain) {
  HookPool runner(options_, Keep());
  ASSERT_TRUE(
      runner.Add(Call("hook", "cd $RAPIDEYE_HOOK_FOLDER; mkdir tried || exit 0; exit 5")).ok());
  const HookReport first = Next();
  EXPECT_EQ(DescribeEnd(first.outcome), "exited with status 5");
  EXPECT_TRUE(first.retry_in.has_value());
  const HookReport second = Next();
  EXPECT_TRUE(second.outcome.succeeded());
  EXPECT_EQ(second.attempt, 2);
}

TEST_F(HookPoolTest, AHookThatFailsForGoodIsReportedAsSuch) {
  HookPool runner(options_, Keep());
  ASSERT_TRUE(runner.Add(Call("hook", "echo bad luck; exit 1")).ok());
  EXPECT_TRUE(Next().retry_in.has_value());
  EXPECT_TRUE(Next().retry_in.has_value());
  const HookReport last = Next();
  EXPECT_FALSE(last.retry_in.has_value());
  EXPECT_EQ(last.attempt, 3);
  EXPECT_EQ(last.outcome.output, "bad luck\n");
}

TEST_F(HookPoolTest, HooksOfOneIncidentKeepTheirOrder) {
  HookPool runner(options_, Keep());
  for (const char* name : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(
        runner.Add(Call(name, std::string("echo ") + name + " >> $RAPIDEYE_HOOK_FOLDER/order"))
            .ok());
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Next().outcome.succeeded());
  EXPECT_EQ(Contents("order"), "a\nb\nc\nd\n");
}

TEST_F(HookPoolTest, StopInterruptsWhatRunsAndReportsNothingOfIt) {
  HookRun call = Call("hook", "echo $$ > $RAPIDEYE_HOOK_FOLDER/began; sleep 1000");
  // The first hook ends only once the second has begun.
  ASSERT_EQ(mkfifo((folder_ + "/began").c_str(), 0600), 0);
  HookRun witness = Call("witness", "cat $RAPIDEYE_HOOK_FOLDER/began");
  witness.incident = "i2";
  witness.remove_hosts = {"host-4"};
  HookPool runner(options_, Keep());
  ASSERT_TRUE(runner.Add(call).ok());
  ASSERT_TRUE(runner.Add(witness).ok());
  EXPECT_THAT(Next().call.hook, HasSubstr("witness"));
  runner.Stop();
  EXPECT_TRUE(reports_.empty());
  EXPECT_TRUE(absl::IsCancelled(runner.Add(call)));
}

}  // namespace
}  // namespace rapideye::coordinator
