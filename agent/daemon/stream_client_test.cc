#include "agent/daemon/stream_client.h"

#include <gmock/gmock.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_coordinator.h"
#include "tests/support/fake_runtime.h"

namespace rapideye::agent {
namespace {

class StreamClientTest : public testing::Test {
 protected:
  void Start(const std::string& address) {
    client_.emplace(address, grpc::InsecureChannelCredentials(), secrets::Redactor(),
                    [this](Event event) {
                      const std::lock_guard lock(mutex_);
                      events_.push_back(std::move(event));
                      changed_.notify_all();
                    });
  }
  // The next that comes; none within half a minute: it throws.
  Event Await() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return !events_.empty(); });
    Event event = std::move(events_.at(0));
    events_.pop_front();
    return event;
  }
  void Greet(int64_t stream) {
    client_->Connect(stream);
    wire::Hello hello;
    hello.job = "job";
    client_->Send(hello);
  }

  FakeCoordinator coordinator_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  std::optional<StreamClient> client_;
};

TEST_F(StreamClientTest, SaysWhyThereIsNoStream) {
  const ReservedPort nobody;
  Start(absl::StrCat("127.0.0.1:", nobody.port()));
  Greet(3);
  const auto closed = std::get<StreamClosed>(Await());
  EXPECT_EQ(closed.stream, 3);
  EXPECT_EQ(closed.status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(StreamClientTest, ANewStreamTakesThePlaceOfOneThatIsNotThereYet) {
  Start(coordinator_.address());
  client_->Connect(1);
  Greet(2);
  EXPECT_EQ(std::get<StreamClosed>(Await()).stream, 1);
  ASSERT_TRUE(coordinator_.Welcome());
  EXPECT_EQ(std::get<MessageReceived>(Await()).stream, 2);
}

TEST_F(StreamClientTest, WhatWasSentBeforeItIsClosedArrives) {
  Start(coordinator_.address());
  Greet(1);
  client_->Send(wire::Heartbeat{});
  client_->Close();
  EXPECT_TRUE(coordinator_.Await([](const auto& message) { return message.has_heartbeat(); }));
  const auto closed = std::get<StreamClosed>(Await());
  EXPECT_TRUE(closed.status.ok()) << closed.status;
}

// Bytes in use in all arenas; 0 where a sanitizer has replaced malloc.
size_t HeapInUse() { return mallinfo2().uordblks; }

TEST_F(StreamClientTest, StreamsThatAreGoneLeaveNothingBehind) {
  constexpr int64_t kStreams = 300;
  // A stream that leaves anything behind leaves more than a KiB of it.
  constexpr size_t kSlack = 200 * 1024;
  Start(coordinator_.address());
  int64_t stream = 0;
  const auto come_and_go = [&] {
    for (int64_t end = stream + kStreams; stream < end;) {
      Greet(++stream);
      ASSERT_TRUE(coordinator_.Welcome());
      ASSERT_TRUE(std::holds_alternative<MessageReceived>(Await()));
      coordinator_.HangUp();
      client_->ReadNext(stream);
      ASSERT_TRUE(std::holds_alternative<StreamClosed>(Await()));
    }
  };
  come_and_go();
  const size_t usual = HeapInUse();
  if (usual == 0) GTEST_SKIP() << "this heap cannot be measured";
  come_and_go();
  EXPECT_LE(HeapInUse(), usual + kSlack);
}

}  // namespace
}  // namespace rapideye::agent
