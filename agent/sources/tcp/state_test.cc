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
  state.Describe({now, absl::UnixEpoch()}, snapshot);
  std::vector<int> tasks;
  for (const Socket& socket : snapshot.sockets) {
    if (socket.state == SocketState::kGone) tasks.push_back(socket.peer.task);
  }
  return tasks;
}

// One look each ten seconds; `progress` between this look and the one before.
class TcpStateTest : public testing::Test {
 protected:
  void Look(std::initializer_list<int> tasks, bool progress) {
    if (progress) last_progress_ = now_ + absl::Seconds(5);
    now_ += absl::Seconds(10);
    state_.Observe(To(tasks), last_progress_, now_);
  }

  TcpState state_;
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
  state_.Clear();
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
  state_.Describe({now_ + absl::Seconds(3), absl::UnixEpoch()}, snapshot);
  ASSERT_THAT(snapshot.sockets, SizeIs(1));
  EXPECT_EQ(snapshot.sockets[0].since_ack_ms, 3'000);
}

}  // namespace
}  // namespace rapideye::agent
