#include "agent/daemon/event_queue.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

TEST(EventQueueTest, KeepsTheOrderAndItsBound) {
  EventQueue queue(2);
  for (int64_t i = 1; i <= 3; ++i) queue.Push(StreamClosed{i, absl::OkStatus()});
  EXPECT_EQ(queue.dropped(), 1);
  const auto now = SteadyClock::now();
  EXPECT_EQ(std::get<StreamClosed>(queue.Pop(now).value()).stream, 1);
  EXPECT_EQ(std::get<StreamClosed>(queue.Pop(now).value()).stream, 2);
  EXPECT_FALSE(queue.Pop(now).has_value());
}

TEST(EventQueueTest, ShuttingDownIsNeverTooMuch) {
  EventQueue queue(1);
  queue.Push(Wake{});
  queue.Push(ShutdownRequested{});
  const auto now = SteadyClock::now();
  EXPECT_TRUE(std::holds_alternative<Wake>(queue.Pop(now).value()));
  EXPECT_TRUE(std::holds_alternative<ShutdownRequested>(queue.Pop(now).value()));
}

}  // namespace
}  // namespace rapideye::agent
