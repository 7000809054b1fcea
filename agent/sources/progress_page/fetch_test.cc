#include "agent/sources/progress_page/fetch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "agent/progress/rapideye_progress.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

class ProgressPageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "progress-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/page";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }

  ProgressReading Read() { return ProgressPageReader(path_, "/proc").Read(); }

  std::string directory_;
  std::string path_;
};

TEST_F(ProgressPageTest, ShowsWhatTheLoopHasWritten) {
  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  rapideye_progress_step(&progress, 7);
  ProgressReading reading = Read();
  ASSERT_TRUE(reading.progress.has_value()) << reading.unavailable;
  EXPECT_EQ(reading.progress->step, 7);
  EXPECT_EQ(reading.progress->phase, Phase::kStep);
  EXPECT_TRUE(reading.progress->phase_for.has_value());
  EXPECT_FALSE(reading.progress->input_wait.has_value());

  rapideye_progress_input_begin(&progress);
  reading = Read();
  EXPECT_EQ(reading.progress->phase, Phase::kInput);
  EXPECT_TRUE(reading.progress->input_wait.has_value());
  rapideye_progress_input_end(&progress);
  EXPECT_EQ(Read().progress->phase, Phase::kStep);
  EXPECT_FALSE(Read().progress->input_wait.has_value());

  // A wait in an evaluation is still the evaluation's.
  rapideye_progress_phase(&progress, RAPIDEYE_PHASE_EVAL);
  rapideye_progress_input_begin(&progress);
  EXPECT_EQ(Read().progress->phase, Phase::kEval);
  EXPECT_TRUE(Read().progress->input_wait.has_value());

  rapideye_progress_close(&progress);
  EXPECT_THAT(Read().unavailable, HasSubstr("closed"));
}

TEST_F(ProgressPageTest, NothingIsSaidOfAPageThatIsNotThereOrNotYetWritten) {
  EXPECT_THAT(Read().unavailable, HasSubstr("No such file"));
  std::ofstream(path_) << "";
  EXPECT_THAT(Read().unavailable, HasSubstr("no training process has written it yet"));
}

TEST_F(ProgressPageTest, ASecondWriterIsTurnedAway) {
  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  rapideye_progress_step(&progress, 3);
  const pid_t child = fork();
  if (child == 0) {
    rapideye_progress other;
    _exit(rapideye_progress_open(&other, path_.c_str()));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), EAGAIN);
  EXPECT_EQ(Read().progress->step, 3);
  rapideye_progress_close(&progress);
}

// The child shares the memory of its parent's page.
TEST_F(ProgressPageTest, AChildDoesNotWriteItsParentsPage) {
  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  rapideye_progress_step(&progress, 3);
  const pid_t child = fork();
  if (child == 0) {
    rapideye_progress_step(&progress, 99);
    rapideye_progress_close(&progress);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(Read().progress->step, 3);
  rapideye_progress_step(&progress, 4);
  EXPECT_EQ(Read().progress->step, 4);
  rapideye_progress_close(&progress);
}

TEST_F(ProgressPageTest, WhatAProcessHasLeftIsNotBelievedAndTheNextOneTakesThePage) {
  const pid_t child = fork();
  if (child == 0) {
    rapideye_progress progress;
    if (rapideye_progress_open(&progress, path_.c_str()) != 0) _exit(1);
    rapideye_progress_phase(&progress, RAPIDEYE_PHASE_CHECKPOINT);
    // In the middle of a write.
    rapideye_progress_begin_write(&progress);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(Read().unavailable, HasSubstr("half written"));

  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  rapideye_progress_step(&progress, 1);
  EXPECT_EQ(Read().progress->step, 1);
  // As if it had been killed: the lock goes with any descriptor of the file.
  close(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const auto show_start = [&progress](int64_t ticks) {
    progress.page.start_ticks = ticks;
    rapideye_progress_put(&progress, &progress.page.start_ticks, sizeof(ticks));
  };
  const int64_t ticks = progress.page.start_ticks;
  show_start(ticks + 1);
  EXPECT_THAT(Read().unavailable, HasSubstr("has ended"));
  // A neighbour who may only read the page locks it.
  int told[2] = {-1, -1};
  ASSERT_EQ(pipe(told), 0);
  const pid_t neighbour = fork();
  if (neighbour == 0) {
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const char locked = fcntl(file, F_SETLK, &lock) == 0 ? 1 : 0;
    if (write(told[1], &locked, 1) == 1) pause();
    _exit(0);
  }
  char locked = 0;
  ASSERT_EQ(read(told[0], &locked, 1), 1);
  EXPECT_EQ(locked, 1);
  EXPECT_THAT(Read().unavailable, HasSubstr("has ended"));
  kill(neighbour, SIGKILL);
  ASSERT_EQ(waitpid(neighbour, nullptr, 0), neighbour);
  close(told[0]);
  close(told[1]);
  // Without its lock (a file system may have none) the process itself tells.
  show_start(ticks);
  EXPECT_TRUE(Read().progress.has_value());
  rapideye_progress_close(&progress);
}

TEST_F(ProgressPageTest, AFileOfSomebodyElseIsLeftAsItIs) {
  std::ofstream(path_) << "precious";
  rapideye_progress progress;
  EXPECT_EQ(rapideye_progress_open(&progress, path_.c_str()), EEXIST);
  rapideye_progress_step(&progress, 1);  // without effect
  std::string text;
  std::ifstream(path_) >> text;
  EXPECT_EQ(text, "precious");
  EXPECT_THAT(Read().unavailable, HasSubstr("no progress page"));
}

// Before, it was mapped: SIGBUS.
TEST_F(ProgressPageTest, WhoeverTruncatesThePageEndsNeitherLoopNorAgent) {
  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  rapideye_progress_step(&progress, 3);
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_FALSE(Read().progress.has_value());
  rapideye_progress_step(&progress, 4);
  rapideye_progress_input_begin(&progress);
  rapideye_progress_input_end(&progress);
  EXPECT_FALSE(Read().progress.has_value());
  rapideye_progress_close(&progress);
}

TEST_F(ProgressPageTest, AFileThatOthersMayWriteIsNeitherWrittenNorRead) {
  std::ofstream(path_) << "";
  rapideye_progress progress;
  chmod(path_.c_str(), 0666);
  EXPECT_EQ(rapideye_progress_open(&progress, path_.c_str()), EPERM);
  EXPECT_THAT(Read().unavailable, HasSubstr("other users may write to it"));
  chmod(path_.c_str(), 0644);
  const std::string second = path_ + "-2";
  ASSERT_EQ(link(path_.c_str(), second.c_str()), 0);
  EXPECT_EQ(rapideye_progress_open(&progress, path_.c_str()), EPERM);
  unlink(second.c_str());
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  EXPECT_TRUE(Read().progress.has_value());
  const std::string link = path_ + "-link";
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(ProgressPageReader(link, "/proc").Read().progress.has_value());
  unlink(link.c_str());
  if (geteuid() == 0) {  // who else gives files away
    constexpr uid_t kAnother = 65534;
    ASSERT_EQ(chown(path_.c_str(), kAnother, kAnother), 0);
    EXPECT_THAT(Read().unavailable, HasSubstr("it belongs to user 65534"));
    rapideye_progress_close(&progress);
    EXPECT_EQ(rapideye_progress_open(&progress, path_.c_str()), EPERM);
  }
  rapideye_progress_close(&progress);
}

TEST_F(ProgressPageTest, AFifoHoldsNobodyUp) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(Read().unavailable, HasSubstr("not a regular file"));
  rapideye_progress progress;
  EXPECT_EQ(rapideye_progress_open(&progress, path_.c_str()), EINVAL);
}

TEST_F(ProgressPageTest, WithoutAPathNothingIsDone) {
  unsetenv(RAPIDEYE_PROGRESS_VARIABLE);
  rapideye_progress progress;
  EXPECT_EQ(rapideye_progress_open(&progress, nullptr), ENOENT);
  rapideye_progress_phase(&progress, RAPIDEYE_PHASE_EVAL);
  rapideye_progress_input_begin(&progress);
  rapideye_progress_input_end(&progress);
  rapideye_progress_close(&progress);
}

// A reader never mixes two writes, however fast the page is written: the wait for input has lasted
// longer than the phase, by a microsecond for each step.
TEST_F(ProgressPageTest, IsNeverReadTorn) {
  rapideye_progress progress;
  ASSERT_EQ(rapideye_progress_open(&progress, path_.c_str()), 0);
  std::atomic<bool> stop = false;
  std::atomic<bool> started = false;
  std::thread writer([&] {
    const int64_t now = rapideye_progress_now();
    for (int64_t step = 0; !stop; step = (step + 1) % 1000) {
      rapideye_progress_write(&progress, step, RAPIDEYE_PHASE_STEP, now - step * 1000,
                              now - step * 2000);
      started = true;
    }
  });
  while (!started) std::this_thread::yield();
  ProgressPageReader reader(path_, "/proc");
  int seen = 0;
  for (int i = 0; i < 20'000; ++i) {
    const ProgressReading reading = reader.Read();
    if (!reading.progress.has_value()) {
      EXPECT_THAT(reading.unavailable, HasSubstr("writ"));
      continue;
    }
    ++seen;
    const ProgressSample& sample = *reading.progress;
    EXPECT_EQ(*sample.input_wait - *sample.phase_for, absl::Nanoseconds(*sample.step * 1000));
  }
  stop = true;
  writer.join();
  // As soon as nobody writes any more it can be read for sure.
  EXPECT_TRUE(Read().progress.has_value());
  RecordProperty("seen", seen);
  rapideye_progress_close(&progress);
}

}  // namespace
}  // namespace rapideye::agent
