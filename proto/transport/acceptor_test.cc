#include "proto/transport/acceptor.h"

#include <arpa/inet.h>
#include <grpcpp/generic/async_generic_service.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "proto/transport/pending_connections.h"

namespace rapideye::transport {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(10);

TEST(PendingConnections, OnePeerHasABoundOfItsOwn) {
  PendingConnections pending(kTimeout);
  const absl::Duration now = absl::Hours(1);
  for (size_t i = 0; i < kMaxPendingOfPeer; ++i) {
    ASSERT_TRUE(pending.Admit("192.0.2.1", static_cast<uint16_t>(1000 + i), now));
  }
  EXPECT_FALSE(pending.Admit("192.0.2.1", 1, now));
  EXPECT_TRUE(pending.Admit("192.0.2.2", 1, now));
  // One that makes a call makes room, and only once.
  pending.Arrived("192.0.2.1", 1000);
  pending.Arrived("192.0.2.1", 1000);
  EXPECT_TRUE(pending.Admit("192.0.2.1", 1, now));
  EXPECT_FALSE(pending.Admit("192.0.2.1", 2, now));
  // Those that do not are over by then.
  EXPECT_TRUE(pending.Admit("192.0.2.1", 2, now + kTimeout));
}

TEST(PendingConnections, AllTogetherHaveABound) {
  PendingConnections pending(kTimeout);
  for (size_t i = 0; i < kMaxPending; ++i) {
    EXPECT_FALSE(pending.Full(absl::ZeroDuration()));
    ASSERT_TRUE(pending.Admit("host-" + std::to_string(i / 100), static_cast<uint16_t>(i),
                              absl::ZeroDuration()));
  }
  EXPECT_TRUE(pending.Full(absl::Seconds(9)));
  pending.Arrived("host-0", 7);
  EXPECT_FALSE(pending.Full(absl::Seconds(9)));
  EXPECT_TRUE(pending.Admit("host-0", 7, absl::Seconds(9)));
  EXPECT_TRUE(pending.Full(absl::Seconds(9)));
  EXPECT_FALSE(pending.Full(kTimeout));
}

int Connect(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return client;
}

// Until the peer closes it.
bool IsClosed(int client) {
  char byte = 0;
  return read(client, &byte, 1) <= 0;
}

// gRPC's own listener never accepts again after this.
TEST(Acceptor, GoesOnOnceDescriptorsHaveComeBack) {
  auto acceptor = Acceptor::Listen("127.0.0.1:0");
  ASSERT_TRUE(acceptor.ok()) << acceptor.status();
  grpc::ServerBuilder builder;
  (*acceptor)->AddTo(builder, grpc::InsecureServerCredentials());
  grpc::CallbackGenericService service;
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  (*acceptor)->Start();
  EXPECT_EQ((*acceptor)->SinceStarved(), absl::InfiniteDuration());

  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const int first = Connect((*acceptor)->port());
  const int second = Connect((*acceptor)->port());
  // Both have been taken in, with the descriptors that this needs: nobody else is after one.
  char byte = 0;
  ASSERT_EQ(read(first, &byte, 1), 1);
  ASSERT_EQ(read(second, &byte, 1), 1);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(second + 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  // This process is the client, too: it needs a number for itself.
  close(first);
  const int turned_away = Connect((*acceptor)->port());
  EXPECT_TRUE(IsClosed(turned_away));
  EXPECT_LT((*acceptor)->SinceStarved(), absl::Minutes(1));
  EXPECT_GE((*acceptor)->refused(), 1);

  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const int served = Connect((*acceptor)->port());
  // The server's settings frame.
  EXPECT_EQ(read(served, &byte, 1), 1);
  for (const int client : {second, turned_away, served}) close(client);
  (*acceptor)->Stop();
  server->Shutdown();
}

// A limit hardly above what is left free else: a coordinator starts with forty open.
TEST(Acceptor, ALowLimitLeavesRoomForSome) {
  constexpr rlim_t kLow = 128;
  constexpr int kOpen = 40;
  std::vector<int> open;
  while (open.empty() || open.back() < kOpen) open.push_back(dup(STDIN_FILENO));
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = kLow;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  auto acceptor = Acceptor::Listen("127.0.0.1:0");
  ASSERT_TRUE(acceptor.ok()) << acceptor.status();
  grpc::ServerBuilder builder;
  (*acceptor)->AddTo(builder, grpc::InsecureServerCredentials());
  grpc::CallbackGenericService service;
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  (*acceptor)->Start();
  const int served = Connect((*acceptor)->port());
  char byte = 0;
  EXPECT_EQ(read(served, &byte, 1), 1);
  EXPECT_EQ((*acceptor)->refused(), 0);
  close(served);
  for (const int descriptor : open) close(descriptor);
  (*acceptor)->Stop();
  server->Shutdown();
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Acceptor, APortIsTakenByOneAlone) {
  const auto acceptor = Acceptor::Listen("127.0.0.1:0");
  ASSERT_TRUE(acceptor.ok()) << acceptor.status();
  const std::string address = "127.0.0.1:" + std::to_string((*acceptor)->port());
  EXPECT_TRUE(absl::IsUnavailable(Acceptor::Listen(address).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Acceptor::Listen("127.0.0.1").status()));
}

}  // namespace
}  // namespace rapideye::transport
