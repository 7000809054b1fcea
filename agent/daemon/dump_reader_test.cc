#include "agent/daemon/dump_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <variant>

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

class DumpReaderTest : public testing::Test {
 protected:
  DumpReaderTest() { EXPECT_NE(mkdtemp(directory_.data()), nullptr); }
  ~DumpReaderTest() override { std::filesystem::remove_all(directory_); }

  DumpReader::Sink Sink() {
    return [this](Event event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_all();
    };
  }
  // The next that comes; none within half a minute: it throws.
  Event Await() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return !events_.empty(); });
    Event event = std::move(events_.at(0));
    events_.pop_front();
    return event;
  }

  std::string directory_ = testing::TempDir() + "dump-reader-XXXXXX";
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
};

TEST_F(DumpReaderTest, AnswersWhatItIsAsked) {
  std::ofstream(directory_ + "/module_0001.jit_f.after_optimizations.txt") << "HloModule jit_f\n";
  DumpReader reader(directory_, Sink());
  reader.Start(FetchModuleText{7, "jit_f", "aa", absl::Seconds(30)});
  const auto there = std::get<ModuleTextFetched>(Await());
  EXPECT_EQ(there.fetch, 7);
  ASSERT_TRUE(there.text.has_value()) << there.problem;
  EXPECT_EQ(there.text->dump, "module_0001.jit_f.after_optimizations.txt");

  reader.Start(FetchModuleText{8, "jit_g", "bb", absl::Seconds(30)});
  const auto none = std::get<ModuleTextFetched>(Await());
  EXPECT_EQ(none.fetch, 8);
  EXPECT_FALSE(none.text.has_value());
  EXPECT_THAT(none.problem, HasSubstr("jit_g"));

  reader.Start(ListDumps{});
  EXPECT_TRUE(std::holds_alternative<DumpsListed>(Await()));
}

}  // namespace
}  // namespace rapideye::agent
