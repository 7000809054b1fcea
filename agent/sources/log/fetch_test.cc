#include "agent/sources/log/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "agent/sources/log/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Lines that are events, told apart by their peer.
std::string Line(const std::string& host) {
  return "The task with address " + host + ":8471 missed 1 health checks.\n";
}

class LogFollowerTest : public testing::Test {
 protected:
  LogFollowerTest() : folder_(testing::TempDir() + absl::StrCat("logs-", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~LogFollowerTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Append(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::app) << text;
  }
  void Follow(const std::string& pattern, bool read_old = false) {
    follower_.emplace(LogOptions{.patterns = {Path(pattern)}, .read_old = read_old});
  }
  logs::LogReading Read() { return follower_->Read(now_ += kLogSearch); }
  bool HasChanged() const {
    pollfd waiting = {follower_->changes(), POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
  }
  // The peers that the lines read so far name.
  std::vector<std::string> Hosts() {
    std::vector<std::string> hosts;
    for (const logs::LogLine& line : Read().lines)
      hosts.push_back(line.event.peer_host.value_or(""));
    return hosts;
  }

  const std::string folder_;
  absl::Duration now_;
  std::optional<LogFollower> follower_;
};

TEST_F(LogFollowerTest, ReadsWhatIsAppended) {
  Append("log", Line("old"));
  Follow("log");
  EXPECT_THAT(Hosts(), IsEmpty());
  Append("log", Line("a") + "nothing\n" + Line("b"));
  EXPECT_THAT(Hosts(), ElementsAre("a", "b"));
  EXPECT_THAT(Hosts(), IsEmpty());
}

// As Python's watchdog writes them; they may come in parts.
TEST_F(LogFollowerTest, ReadsTheStacksThatOneProcessWrote) {
  const std::string first =
      "Timeout (0:00:08)!\nThread 0x00007f9a9affd6c0 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/queue.py\", line 140 in put\n";
  const std::string rest =
      "\nThread 0x00007f9b027fd040 (most recent call first):\n"
      "  File \"/job/train.py\", line 88 in read\n  File \"/job/train.py\", line 9 in <module>\n";
  Append("log", first);
  Follow("log", /*read_old=*/true);
  EXPECT_THAT(Read().stacks, IsEmpty());  // of an earlier process, perhaps
  Append("log", first);
  EXPECT_THAT(Read().stacks, IsEmpty());  // the main thread comes last
  Append("log", rest);
  const std::vector<Stack> stacks = Read().stacks;
  ASSERT_THAT(stacks, SizeIs(2));
  EXPECT_EQ(stacks[0].thread, "MainThread");
  EXPECT_THAT(stacks[0].frames,
              ElementsAre("read (/job/train.py:88)", "<module> (/job/train.py:9)"));
  EXPECT_THAT(Read().stacks, IsEmpty());  // none since
  // Stacks that are cut before their main thread bring none of before again.
  Append("log", first);
  EXPECT_THAT(Read().stacks, IsEmpty());
  // Two processes, each with a log of its own: nobody knows whose the agent watches.
  Follow("log*");
  Read();
  Append("log", first + rest);
  Append("log-2", first + rest);
  EXPECT_THAT(Read().stacks, IsEmpty());
}

TEST_F(LogFollowerTest, AFileThatComesLaterIsReadFromItsBeginning) {
  Follow("log");
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_THAT(reading.notes[0], HasSubstr("followed once it is there"));
  Append("log", Line("a"));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  EXPECT_THAT(Read().notes, IsEmpty());
}

TEST_F(LogFollowerTest, IsPatientOnceTheKernelTellsWhatGrows) {
  Append("log", "x\n");
  Follow("log");
  Read();
  EXPECT_FALSE(HasChanged());
  EXPECT_EQ(follower_->Patience(), kLogPoll);  // no growth has been reported yet
  Append("log", Line("a"));
  EXPECT_TRUE(HasChanged());
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  EXPECT_FALSE(HasChanged());
  EXPECT_EQ(follower_->Patience(), kLogCheck);

  Append("log", "the beginning of a line");
  EXPECT_TRUE(HasChanged());
  Read();
  EXPECT_EQ(follower_->Patience(), kLogPoll);
  Append("log", "\n");
  Read();
  EXPECT_EQ(follower_->Patience(), kLogCheck);

  std::filesystem::rename(Path("log"), Path("log.1"));
  Append("log", Line("b"));
  EXPECT_TRUE(HasChanged());
  EXPECT_THAT(Hosts(), ElementsAre("b"));
  Append("log", Line("c"));
  EXPECT_TRUE(HasChanged());
  EXPECT_THAT(Hosts(), ElementsAre("c"));
}

TEST_F(LogFollowerTest, AFileThatComesIsFoundBeforeTheNextSearch) {
  Follow("log*");
  Read();
  Append("log.2", Line("a"));
  EXPECT_TRUE(HasChanged());
  EXPECT_THAT(follower_->Read(now_).lines, SizeIs(1));
}

TEST_F(LogFollowerTest, PutsPartsOfALineTogether) {
  Append("log", "The end of an old li");
  Follow("log");
  Read();
  Append("log", "ne. " + Line("old") + Line("a").substr(0, 30));
  EXPECT_THAT(Hosts(), IsEmpty());
  Append("log", Line("a").substr(30));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
}

TEST_F(LogFollowerTest, FinalLinesWithoutAnEndAreRead) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", "The task with address a:8471 missed 1 health checks");
  EXPECT_THAT(Hosts(), IsEmpty());
  EXPECT_THAT(Hosts(), IsEmpty());
  EXPECT_THAT(Hosts(), ElementsAre("a"));
}

TEST_F(LogFollowerTest, FollowsRotation) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", Line("a"));
  std::filesystem::rename(Path("log"), Path("log.1"));
  Append("log.1", Line("b"));
  EXPECT_THAT(Hosts(), ElementsAre("a", "b"));
  Append("log.1", Line("c"));
  Append("log", Line("d"));
  EXPECT_THAT(Hosts(), ElementsAre("c", "d"));
  Append("log", Line("e"));
  EXPECT_THAT(Hosts(), ElementsAre("e"));
}

TEST_F(LogFollowerTest, ARotatedFileIsNotReadAgainByItsNewName) {
  Append("log", "x\n");
  Follow("log*");
  Read();
  Append("log", Line("a"));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  std::filesystem::rename(Path("log"), Path("log.1"));
  Append("log", Line("b"));
  EXPECT_THAT(Hosts(), ElementsAre("b"));
  Append("log.1", Line("c"));
  Read();
  EXPECT_THAT(Hosts(), IsEmpty());
}

TEST_F(LogFollowerTest, FollowsTruncation) {
  Append("log", std::string(1'000, 'x') + "\n");
  Follow("log");
  Read();
  std::filesystem::resize_file(Path("log"), 0);
  Append("log", Line("a"));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
}

TEST_F(LogFollowerTest, SeesATruncationThatHasGrownOverAgain) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", Line("a"));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  std::filesystem::resize_file(Path("log"), 0);
  Append("log", Line("b") + Line("c") + std::string(1'000, 'x') + "\n");
  EXPECT_THAT(Hosts(), ElementsAre("b", "c"));
}

TEST_F(LogFollowerTest, AHoleThatATruncationLeftIsNotRead) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", Line("a") + std::string(1'000, 'x') + "\n");
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  const auto size = std::filesystem::file_size(Path("log"));
  std::filesystem::resize_file(Path("log"), 0);
  std::filesystem::resize_file(Path("log"), size);
  Append("log", Line("b"));
  EXPECT_THAT(Hosts(), ElementsAre("b"));
}

TEST_F(LogFollowerTest, KeepsUpWith100000LinesASecond) {
  Append("log", "x\n");
  Follow("log");
  Read();
  // Text that such a log gains from one look to the next.
  const std::string usual = "I1001 15:22:33.275768    4353 trainer.py:88] step 1200 loss 2.31 " +
                            std::string(80, '.') + "\n";
  const auto lines = 100'000 * kLogPoll / absl::Seconds(1);
  std::string written;
  for (int64_t i = 0; i < lines; ++i) written += usual;
  Append("log", Line("first") + written + Line("last"));
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(2));
  EXPECT_EQ(reading.lines[1].event.peer_host, "last");
  EXPECT_THAT(reading.notes, IsEmpty());
}

TEST_F(LogFollowerTest, ALineThatIsFarTooLongHidesNothingAfterIt) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", std::string(kMaxLogBacklogBytes / 2, 'x') + "\n" + Line("a"));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  Append("log", std::string(100'000'000, 'x') + "\n" + Line("b"));
  EXPECT_THAT(Hosts(), ElementsAre("b"));
}

TEST_F(LogFollowerTest, BinaryJunkHidesNothing) {
  Append("log", "x\n");
  Follow("log");
  Read();
  std::string junk;
  for (int i = 0; i < 100'000; ++i) junk.push_back(static_cast<char>(i * 7919 >> 3));
  Append("log", junk + "\n" + std::string(1'000, '\0') + Line("a") + junk);
  EXPECT_THAT(Hosts(), ElementsAre("a"));
}

TEST_F(LogFollowerTest, ReadsWhatACommandWrites) {
  const std::unique_ptr<OutputRing> ring = OutputRing::Create().value();
  std::atomic<int> told = 0;
  LogOptions options;
  options.outputs = {ring.get()};
  options.told_to_end = &told;
  follower_.emplace(std::move(options));
  const auto write = [&](const std::string& text) {
    text.copy(ring->Space().data(), text.size());
    ring->Took(text.size());
    ring->Wrote(text.size());
  };
  write(Line("a") + Line("b").substr(0, 20));
  EXPECT_THAT(Hosts(), ElementsAre("a"));
  write(Line("b").substr(20));
  EXPECT_THAT(Hosts(), ElementsAre("b"));
  told = SIGINT;
  EXPECT_THAT(Hosts(), IsEmpty());
  told = SIGTERM;
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].event.kind, LogKind::kPreempted);
  EXPECT_THAT(Hosts(), IsEmpty());
}

TEST_F(LogFollowerTest, RecognisesWhatAnOperatorAdded) {
  LogOptions options{.patterns = {Path("log")}};
  options.signatures =
      logs::SignatureTable::With(logs::ParseSignatures("NIC_FAULT \"acme_rdma\"").value());
  follower_.emplace(std::move(options));
  Read();
  Append("log", "acme_rdma0 lost its link\n");
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].event.kind, LogKind::kNicFault);
}

TEST_F(LogFollowerTest, SkipsWhatIsTooMuchAndSaysSo) {
  Append("log", "x\n");
  Follow("log");
  Read();
  Append("log", Line("lost") + std::string(kMaxLogBacklogBytes, '\n') + Line("last"));
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].event.peer_host, "last");
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_THAT(reading.notes[0], HasSubstr("parts are skipped"));
}

TEST_F(LogFollowerTest, AFloodIsOneLineAndACount) {
  Append("log", "x\n");
  Follow("log");
  Read();
  std::string flood;
  for (int i = 0; i < 1'000; ++i) flood += Line("a");
  Append("log", flood);
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].repeats, 999);
}

TEST_F(LogFollowerTest, ReadsOldLinesWhenAskedAndCallsThemOld) {
  Append("log", Line("a") + "The task with address b:8471 missed 1 health checks");
  Follow("log", /*read_old=*/true);
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(2));
  EXPECT_TRUE(reading.lines[0].old);
  EXPECT_TRUE(reading.lines[1].old);
  Append("log", "\n" + Line("c"));
  const logs::LogReading later = Read();
  ASSERT_THAT(later.lines, SizeIs(1));
  EXPECT_FALSE(later.lines[0].old);
}

TEST_F(LogFollowerTest, WhatIsNoFileIsLeftOut) {
  std::filesystem::create_directory(Path("log"));
  Follow("log");
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_THAT(reading.notes[0], HasSubstr("not a regular file"));
}

// An agent may read files that the job may not, and users of the job may read captures.
TEST_F(LogFollowerTest, ALinkOfTheJobLeadsToNoFileOfOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  constexpr uid_t kJob = 65534;
  Append("ours", Line("secret"));
  Append("theirs", Line("own"));
  ASSERT_EQ(chown(Path("theirs").c_str(), kJob, kJob), 0);
  for (const char* name : {"ours", "theirs"}) {
    const std::string link = Path(std::string(name) + ".log");
    std::filesystem::create_symlink(Path(name), link);
    ASSERT_EQ(lchown(link.c_str(), kJob, kJob), 0);
  }
  Follow("*.log", /*read_old=*/true);
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.lines, SizeIs(1));
  EXPECT_EQ(reading.lines[0].event.peer_host, "own");
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_THAT(reading.notes[0], HasSubstr("ours.log leads by a link of another user"));
}

TEST_F(LogFollowerTest, FollowsNoMoreFilesThanItMay) {
  for (size_t i = 0; i <= kMaxLogFiles; ++i) Append(absl::StrCat("log", i), "x\n");
  Follow("log*");
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.notes, SizeIs(1));
  EXPECT_THAT(reading.notes[0], HasSubstr("make the patterns of --log narrower"));
}

TEST_F(LogFollowerTest, ADirectoryOfMillionsIsNotSearchedToItsEnd) {
  Append("log", "x\n");
  for (int i = 0; i < kMaxSearchedEntries; ++i) {
    close(open(Path(absl::StrCat("other", i)).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }
  Follow("log*");
  const logs::LogReading reading = Read();
  ASSERT_THAT(reading.notes, Contains(HasSubstr("not all are looked at")));
  for (int i = 0; i < 10; ++i) std::filesystem::remove(Path(absl::StrCat("other", i)));
  Follow("log*");
  EXPECT_THAT(Read().notes, Not(Contains(HasSubstr("not all are looked at"))));
}

TEST_F(LogFollowerTest, TellsTheStepWhenItHasGrown) {
  Append("log", "step 1\nstep 2\nstep 3\n");  // of another run
  Follow("log");
  EXPECT_FALSE(Read().steps.has_value());
  Append("log", "step 4\nstep 5\n");
  EXPECT_FALSE(Read().steps.has_value());
  Append("log", "step 6\n");
  EXPECT_EQ(Read().steps, (logs::StepReading{6, 1}));
  EXPECT_FALSE(Read().steps.has_value());
  Append("log", "step 7\nstep 8\n");
  EXPECT_EQ(Read().steps, (logs::StepReading{8, 3}));
}

}  // namespace
}  // namespace rapideye::agent
