#include "proto/common/process/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

namespace rapideye::program {
namespace {

bool Readable(int fd) {
  pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&readable, 1, 0) == 1;
}

TEST(StopSignalsTest, GivesTheFirstSignalAndKeepsIt) {
  absl::StatusOr<StopSignals> signals = StopSignals::Catch();
  ASSERT_TRUE(signals.ok()) << signals.status();
  EXPECT_FALSE(Readable(signals->fd()));
  EXPECT_EQ(signals->Wait(absl::ZeroDuration()), std::nullopt);
  raise(SIGTERM);
  raise(SIGINT);
  EXPECT_TRUE(Readable(signals->fd()));
  EXPECT_EQ(signals->Wait(), SIGTERM);
  EXPECT_EQ(signals->Wait(absl::ZeroDuration()), SIGTERM);
}

TEST(StopSignalsTest, WakesAThreadThatWaits) {
  absl::StatusOr<StopSignals> signals = StopSignals::Catch();
  ASSERT_TRUE(signals.ok()) << signals.status();
  std::optional<int> got;
  std::thread waiter([&] { got = signals->Wait(); });
  kill(getpid(), SIGINT);
  waiter.join();
  EXPECT_EQ(got, SIGINT);
}

TEST(StopSignalsTest, AHangupReloadsAndEndsNothing) {
  absl::StatusOr<StopSignals> signals = StopSignals::Catch();
  ASSERT_TRUE(signals.ok()) << signals.status();
  int reloads = 0;
  ASSERT_TRUE(signals->OnHangup([&reloads] { ++reloads; }).ok());
  raise(SIGHUP);
  raise(SIGHUP);
  EXPECT_TRUE(Readable(signals->hangup_fd()));
  EXPECT_FALSE(Readable(signals->fd()));
  signals->HandleHangup();
  EXPECT_EQ(reloads, 1);
  signals->HandleHangup();
  EXPECT_EQ(reloads, 1);
  std::thread waiter([&signals] { EXPECT_EQ(signals->Wait(), SIGTERM); });
  raise(SIGHUP);
  raise(SIGTERM);
  waiter.join();
}

TEST(StopSignalsTest, OneAtATimeAndALateSignalDoesNotKill) {
  {
    absl::StatusOr<StopSignals> signals = StopSignals::Catch();
    ASSERT_TRUE(signals.ok()) << signals.status();
    EXPECT_EQ(StopSignals::Catch().status().code(), absl::StatusCode::kFailedPrecondition);
    raise(SIGTERM);
  }
  raise(SIGTERM);  // on the way out: nobody waits any more
  absl::StatusOr<StopSignals> again = StopSignals::Catch();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->Wait(absl::ZeroDuration()), std::nullopt);  // the old one is forgotten
}

}  // namespace
}  // namespace rapideye::program
