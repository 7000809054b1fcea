#include "agent/sources/tcp/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Socket> To(std::initializer_list<int> tasks) {
  std::vector<Socket> sockets;
  for (const int task : tasks) {
    Socket socket;
    socket.peer = {0, task};
    socket.state = SocketState::kEstablished;
    sockets.push_back(socket);
  }
  return sockets;
}

std::vector<int> Gone(const TcpState& state, absl::Duration now) {
  Snapshot snapshot;
  state.AddTo(snapshot, {now, absl::UnixEpoch()});
  std::vector<int> tasks;
  for (const Socket& socket : snapshot.sockets) {
    if (socket.state == SocketState::kGone) tasks.push_back(socket.peer.task);
  }
  return tasks;
}

constexpr ProcessId kProcess = {4211, 100};

// Looks once in ten seconds; `progress` between this look and the one before.
class TcpStateTest : public testing::Test {
 protected:
  TcpStateTest() { state_.Watching(kProcess); }

  void Look(std::initializer_list<int> tasks, bool progress) {
    if (progress) last_progress_ = now_ + absl::Seconds(5);
    now_ += absl::Seconds(10);
    state_.Observe({To(tasks), {}, ""}, {.last_progress = last_progress_}, now_, notices_);
  }

  TcpState state_;
  Notices notices_;
  absl::Duration now_;
  absl::Duration last_progress_ = -absl::Seconds(1);
};

TEST_F(TcpStateTest, WhatWasThereInHealthAndVanishedIsGone) {
  Look({1, 2}, false);
  Look({1, 2}, true);
  Look({1, 2}, true);
  EXPECT_THAT(Gone(state_, now_), IsEmpty());
  Look({1}, false);
  EXPECT_THAT(Gone(state_, now_), testing::ElementsAre(2));
  Look({1}, false);
  EXPECT_THAT(Gone(state_, now_), testing::ElementsAre(2));
  state_.ProcessReplaced(now_);
  EXPECT_THAT(Gone(state_, now_), IsEmpty());
}

TEST_F(TcpStateTest, WhatComesAndGoesInHealthIsNotMissed) {
  Look({1}, false);
  Look({1, 2}, true);
  Look({1}, true);
  Look({1, 3}, true);
  Look({1}, true);
  Look({1}, false);
  EXPECT_THAT(Gone(state_, now_), IsEmpty());
}

TEST_F(TcpStateTest, AcknowledgementsAge) {
  Look({1}, false);
  Snapshot snapshot;
  state_.AddTo(snapshot, {now_ + absl::Seconds(3), absl::UnixEpoch()});
  ASSERT_THAT(snapshot.sockets, SizeIs(1));
  EXPECT_EQ(snapshot.sockets[0].since_ack_ms, 3'000);
}

TEST_F(TcpStateTest, WithoutAProcessNothingIsSaidOfItsConnections) {
  Look({1, 2}, false);
  state_.Watching(std::nullopt);
  Snapshot snapshot;
  state_.AddTo(snapshot, {now_, absl::UnixEpoch()});
  EXPECT_THAT(snapshot.sockets, IsEmpty());
  state_.Watching(kProcess);
  state_.AddTo(snapshot, {now_, absl::UnixEpoch()});
  EXPECT_THAT(snapshot.sockets, SizeIs(2));
}

std::vector<Socket> Opening(int task) {
  std::vector<Socket> sockets = To({task});
  sockets.front().state = SocketState::kSynSent;
  return sockets;
}

TEST_F(TcpStateTest, WhatAProcessTriedToOpenUntilItEndedIsKept) {
  std::vector<Socket> seen = To({1});
  seen.push_back(Opening(2).front());
  state_.Observe({seen, {}, ""}, {}, now_, notices_);
  Look({}, false);  // 10 s later: it lives on, and has nothing open
  state_.Watching(std::nullopt);
  Snapshot given_up;
  state_.AddTo(given_up, {now_, absl::UnixEpoch()});
  EXPECT_THAT(given_up.sockets, IsEmpty());

  state_.Watching(kProcess);
  state_.Observe({seen, {}, ""}, {}, now_, notices_);
  state_.Observe({{}, {}, ""}, {}, now_ + absl::Seconds(1), notices_);  // it has ended
  state_.Watching(std::nullopt);
  state_.Observe({{}, {}, ""}, {}, now_ + absl::Seconds(20), notices_);
  Snapshot ended;
  state_.AddTo(ended, {now_, absl::UnixEpoch()});
  ASSERT_THAT(ended.sockets, SizeIs(1));
  EXPECT_EQ(ended.sockets[0].peer.task, 2);
  EXPECT_EQ(ended.sockets[0].state, SocketState::kSynSent);

  state_.ProcessReplaced(now_);
  Snapshot replaced;
  state_.AddTo(replaced, {now_, absl::UnixEpoch()});
  EXPECT_THAT(replaced.sockets, IsEmpty());
}

TEST_F(TcpStateTest, ALookThatFailedChangesNothingAndSaysOnceWhy) {
  Look({1}, false);
  for (int i = 0; i < 2; ++i) state_.Observe({{}, {}, "no sock_diag"}, {}, now_, notices_);
  state_.ProcessReplaced(now_);
  state_.Observe({{}, {}, "no sock_diag"}, {}, now_, notices_);
  EXPECT_THAT(
      notices_.warnings,
      testing::ElementsAre("nothing is known of connections to other workers: no sock_diag"));
}

}  // namespace
}  // namespace rapideye::agent
