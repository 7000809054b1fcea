// Test that an agent outlives jobs and coordinators by the thousand, and takes no more memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include "absl/strings/str_cat.h"
#include "tests/support/core_script.h"

namespace rapideye::agent {
namespace {

class Years : public CoreScript {
 public:
  Years() : CoreScript(absl::Seconds(5), 1, /*watches_host=*/true) {}

  // A job whose names are all new: it runs, hangs, and its worker is collected from; then the
  // process dies, and the coordinator goes, too.
  void LiveThroughAJob() {
    ++job_;
    ProcessSample& process = host.Of<ProcessReading>().emplace().process.emplace();
    process.id = {1'000 + job_, job_};
    process.command = absl::StrCat("train-", job_);
    process.state = ProcessState::kSleeping;
    std::vector<StrangerSocket>& strangers = host.Of<SocketReading>().emplace().strangers;
    for (uint8_t peer = 0; peer < kPeers; ++peer) {
      strangers.push_back(
          {FromV4({10, static_cast<uint8_t>(job_ >> 8), static_cast<uint8_t>(job_), peer}), {}});
    }
    Pass(absl::Seconds(1));
    Welcome(/*attention_after=*/absl::Seconds(10));
    for (int launch = 0; launch < 4; ++launch) {
      reading = Serving({Running(0, absl::StrCat(absl::Hex(job_)), launch, 7)});
      Pass(absl::Seconds(5));
    }
    Pass(absl::Seconds(30));
    logs::LogLine line;
    line.event.kind = LogKind::kCoreHalt;
    line.event.text = absl::StrCat("halt of job ", job_);
    line.key = line.event.text;
    Step(LogsRead{{{line}, {}}});
    Receive(wire::Collect{.collection = job_,
                          .credit = true,
                          .deadline = absl::Seconds(5),
                          .incident = absl::StrCat("incident-", job_)});
    Pass(absl::Seconds(10));
    Receive(wire::Concluded{absl::StrCat("incident-", job_)});
    process.state = ProcessState::kExited;
    Pass(absl::Seconds(5));
    Step(StreamClosed{stream, absl::UnavailableError(absl::StrCat("gone with job ", job_))});
    Pass(absl::Seconds(30));
    // The records that the script itself keeps must not count as memory of the agent.
    polls = {};
    sent = {};
    logs = {};
    kept = {};
  }

 private:
  static constexpr uint8_t kPeers = 32;

  int64_t job_ = 0;
};

// Bytes in use in all arenas; 0 where a sanitizer has replaced malloc.
size_t HeapInUse() { return mallinfo2().uordblks; }

TEST(AgentCoreMemoryTest, StaysFlat) {
  constexpr int kUntilFull = 200;  // jobs, after which every bounded store is full
  constexpr size_t kSlack = 4 * 1024;
  Years years;
  for (int job = 0; job < kUntilFull; ++job) years.LiveThroughAJob();
  const size_t full = HeapInUse();
  if (full == 0) GTEST_SKIP() << "this heap cannot be measured";
  for (int job = 0; job < kUntilFull; ++job) years.LiveThroughAJob();
  EXPECT_LE(HeapInUse(), full + kSlack);
}

}  // namespace
}  // namespace rapideye::agent
