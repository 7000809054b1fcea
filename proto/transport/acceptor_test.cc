#include "proto/transport/acceptor.h"

#include <arpa/inet.h>
#include <grpcpp/generic/async_generic_service.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/transport/channel_options.h"
#include "proto/transport/pending_connections.h"
#include "proto/transport/served_connections.h"

namespace rapideye::transport {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(10);

using Outcome = PendingConnections::Outcome;
using Peer = PendingConnections::Peer;

Peer At(const std::string& address, size_t port) { return {address, static_cast<uint16_t>(port)}; }

TEST(PendingConnections, OnePeerHasABoundOfItsOwn) {
  PendingConnections pending(kTimeout);
  const absl::Duration now = absl::Hours(1);
  for (size_t i = 0; i < kMaxPendingOfPeer; ++i) {
    const auto admission = pending.Admit(At("192.0.2.1", 1000 + i), now);
    ASSERT_EQ(admission.outcome, Outcome::kAdmitted);
    ASSERT_FALSE(admission.yields.has_value());
  }
  EXPECT_EQ(pending.Admit(At("192.0.2.1", 1), now).outcome, Outcome::kRefused);
  EXPECT_EQ(pending.Admit(At("192.0.2.2", 1), now).outcome, Outcome::kAdmitted);
  // A connection that makes a call makes room, and only once.
  pending.Arrived(At("192.0.2.1", 1000));
  pending.Arrived(At("192.0.2.1", 1000));
  EXPECT_EQ(pending.Admit(At("192.0.2.1", 1), now).outcome, Outcome::kAdmitted);
  EXPECT_EQ(pending.Admit(At("192.0.2.1", 2), now).outcome, Outcome::kRefused);
  // Connections without a call are over by then.
  EXPECT_EQ(pending.Expire(now + kTimeout).size(), kMaxPendingOfPeer + 1);
  EXPECT_TRUE(pending.empty());
}

// An agent behind the address of somebody who opens connections and says nothing.
TEST(PendingConnections, TheOldestOfAnAddressMakesRoomOnceItHadItsTurn) {
  PendingConnections pending(kTimeout);
  for (size_t i = 0; i < kMaxPendingOfPeer; ++i) {
    pending.Admit(At("192.0.2.1", 1000 + i), absl::Milliseconds(i));
  }
  pending.Admit(At("192.0.2.2", 1), absl::ZeroDuration());
  const absl::Duration ripe = kLeastTurn;
  const auto first = pending.Admit(At("192.0.2.1", 1), ripe);
  EXPECT_EQ(first.outcome, Outcome::kAdmitted);
  EXPECT_EQ(first.yields, At("192.0.2.1", 1000));
  // The next one has had its turn a millisecond later.
  const auto second = pending.Admit(At("192.0.2.1", 2), ripe);
  EXPECT_EQ(second.outcome, Outcome::kRefused);
  EXPECT_FALSE(second.yields.has_value());
  EXPECT_EQ(pending.Admit(At("192.0.2.1", 2), ripe + absl::Milliseconds(1)).yields,
            At("192.0.2.1", 1001));
  // A connection that was given up for another has nothing left to expire.
  EXPECT_EQ(pending.Expire(kTimeout).size(), 1);
}

TEST(PendingConnections, AllTogetherHaveABoundAndTheMostCrowdedAddressYields) {
  PendingConnections pending(kTimeout);
  pending.Admit(At("quiet", 1), absl::ZeroDuration());
  for (size_t i = 1; i < kMaxPending; ++i) {
    EXPECT_FALSE(pending.Full(absl::ZeroDuration()));
    const std::string address = i <= 200 ? "crowded" : "host-" + std::to_string(i / 100);
    ASSERT_EQ(pending.Admit(At(address, i), absl::Milliseconds(i <= 200 ? 1 : 0)).outcome,
              Outcome::kAdmitted);
  }
  EXPECT_TRUE(pending.Full(kLeastTurn));
  EXPECT_EQ(pending.Admit(At("new", 1), kLeastTurn).outcome, Outcome::kWait);
  const absl::Duration ripe = kLeastTurn + absl::Milliseconds(1);
  EXPECT_FALSE(pending.Full(ripe));
  const auto admission = pending.Admit(At("new", 1), ripe);
  EXPECT_EQ(admission.outcome, Outcome::kAdmitted);
  EXPECT_EQ(admission.yields, At("crowded", 1));

  pending.Arrived(At("host-9", 900));
  EXPECT_FALSE(pending.Full(kLeastTurn));
  EXPECT_FALSE(pending.Admit(At("host-9", 900), kLeastTurn).yields.has_value());
}

// Each connection has an address of its own: the order is that of age, not of the names.
TEST(PendingConnections, OfManyAddressesTheOldestYields) {
  PendingConnections pending(kTimeout);
  for (size_t i = 0; i < kMaxPending; ++i) {
    pending.Admit(At(std::to_string(5000 - i), 1), absl::Milliseconds(i));
  }
  EXPECT_EQ(pending.Admit(At("new", 1), absl::Seconds(5)).yields, At("5000", 1));
  EXPECT_EQ(pending.Admit(At("newer", 1), absl::Seconds(5)).yields, At("4999", 1));
}

TEST(PendingConnections, WhereDescriptorsAreFewTheBoundIsLower) {
  PendingConnections pending(kTimeout, /*most=*/2);
  pending.Admit(At("192.0.2.1", 1), absl::ZeroDuration());
  EXPECT_FALSE(pending.Full(absl::ZeroDuration()));
  pending.Admit(At("192.0.2.2", 1), absl::ZeroDuration());
  EXPECT_TRUE(pending.Full(absl::ZeroDuration()));
  EXPECT_EQ(pending.Admit(At("192.0.2.3", 1), kLeastTurn).yields, At("192.0.2.1", 1));
}

TEST(ServedConnections, AFloodOfCallsIsNoClientOfOurs) {
  ServedConnections served;
  const Peer agent = At("192.0.2.1", 1);
  const Peer flood = At("192.0.2.1", 2);
  served.Accepted(agent, 7);
  served.Accepted(flood, 8);
  absl::Duration now = absl::Hours(1);
  for (int i = 0; i < static_cast<int>(kCallBurst); ++i) {
    ASSERT_EQ(served.Call(flood, 100, now), std::nullopt) << i;
  }
  EXPECT_EQ(served.Call(flood, 100, now), 8);
  EXPECT_EQ(served.Call(agent, 100, now), std::nullopt);
  // A slower one goes on for ever.
  for (int i = 0; i < 10 * static_cast<int>(kCallBurst); ++i) {
    now += absl::Seconds(1 / kCallsPerSecond);
    ASSERT_EQ(served.Call(agent, 100, now), std::nullopt) << i;
  }
}

TEST(ServedConnections, MetadataIsBounded) {
  ServedConnections served;
  served.Accepted(At("192.0.2.1", 1), 7);
  EXPECT_EQ(served.Call(At("192.0.2.1", 1), kMaxMetadataBytes, kTimeout), std::nullopt);
  EXPECT_EQ(served.Call(At("192.0.2.1", 1), kMaxMetadataBytes + 1, kTimeout), 7);
}

// A descriptor is soon another connection's, and a port another descriptor's.
TEST(ServedConnections, ADescriptorIsOfItsLatestConnection) {
  ServedConnections served;
  const Peer first = At("192.0.2.1", 1);
  const Peer second = At("192.0.2.1", 2);
  served.Accepted(first, 7);
  served.Accepted(second, 7);
  EXPECT_EQ(served.Call(first, kMaxMetadataBytes + 1, kTimeout), std::nullopt);
  EXPECT_EQ(served.Call(second, kMaxMetadataBytes + 1, kTimeout), 7);
  served.Accepted(second, 8);
  served.Accepted(first, 7);
  EXPECT_EQ(served.Call(second, kMaxMetadataBytes + 1, kTimeout), 8);
  EXPECT_EQ(served.Call(first, kMaxMetadataBytes + 1, kTimeout), 7);
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

// Waits until the peer closes it.
bool IsClosed(int client) {
  char byte = 0;
  return read(client, &byte, 1) <= 0;
}

// A server that answers no call, behind an acceptor.
class Served {
 public:
  using Configure = void (*)(grpc::ServerBuilder&);
  // `before`: gets the port before anything is accepted.
  explicit Served(Configure configure = nullptr, void (*before)(int) = nullptr)
      : acceptor_(*Acceptor::Listen("127.0.0.1:0")) {
    grpc::ServerBuilder builder;
    if (configure != nullptr) configure(builder);
    acceptor_->AddTo(builder, grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    EXPECT_NE(server_, nullptr);
    if (before != nullptr) before(acceptor_->port());
    acceptor_->Start();
  }
  ~Served() {
    acceptor_->Stop();
    server_->Shutdown();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  Acceptor& acceptor() { return *acceptor_; }

 private:
  std::unique_ptr<Acceptor> acceptor_;
  grpc::CallbackGenericService service_;
  std::unique_ptr<grpc::Server> server_;
};

// gRPC's own listener never accepts again after this.
TEST(Acceptor, GoesOnOnceDescriptorsHaveComeBack) {
  Served server;
  EXPECT_EQ(server.acceptor().SinceStarved(), absl::InfiniteDuration());

  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const int first = Connect(server.acceptor().port());
  const int second = Connect(server.acceptor().port());
  // Both connections have their descriptors now: no other thread needs a new one.
  char byte = 0;
  ASSERT_EQ(read(first, &byte, 1), 1);
  ASSERT_EQ(read(second, &byte, 1), 1);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(second + 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  // This process is the client, too: it needs a number for itself.
  close(first);
  const int turned_away = Connect(server.acceptor().port());
  EXPECT_TRUE(IsClosed(turned_away));
  EXPECT_LT(server.acceptor().SinceStarved(), absl::Minutes(1));
  EXPECT_GE(server.acceptor().refused(), 1);

  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const int served = Connect(server.acceptor().port());
  // The server's settings frame.
  EXPECT_EQ(read(served, &byte, 1), 1);
  for (const int client : {second, turned_away, served}) close(client);
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
  Served server;
  const int served = Connect(server.acceptor().port());
  char byte = 0;
  EXPECT_EQ(read(served, &byte, 1), 1);
  EXPECT_EQ(server.acceptor().refused(), 0);
  close(served);
  for (const int descriptor : open) close(descriptor);
  setrlimit(RLIMIT_NOFILE, &before);
}

// A flood that is over leaves the kernel's queue full of connections whose peers have gone.
TEST(Acceptor, ConnectionsThatWereGivenUpBeforeTheirTurnCostNothing) {
  Served server(nullptr, [](int port) {
    for (size_t i = 0; i < kMaxPendingOfPeer + 50; ++i) close(Connect(port));
  });
  const int served = Connect(server.acceptor().port());
  char byte = 0;
  EXPECT_EQ(read(served, &byte, 1), 1);
  EXPECT_EQ(server.acceptor().refused(), 0);
  close(served);
}

// A connection that has made no call makes room, by itself and while nobody reads it.
TEST(Acceptor, TheOldestThatSaysNothingMakesRoomForANewOne) {
  Served server;
  std::vector<int> silent;
  for (size_t i = 0; i < kMaxPendingOfPeer; ++i)
    silent.push_back(Connect(server.acceptor().port()));
  char byte = 0;
  for (const int one : silent) ASSERT_EQ(read(one, &byte, 1), 1);
  // The server's settings frame, once the first has had its turn.
  int served = -1;
  do {
    if (served >= 0) close(served);
    served = Connect(server.acceptor().port());
  } while (read(served, &byte, 1) != 1);
  pollfd first = {.fd = silent.front(), .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(poll(&first, 1, 60'000), 1);
  EXPECT_GE(server.acceptor().refused(), 1);
  close(served);
  for (const int one : silent) close(one);
}

std::string Frame(char type, char flags, uint16_t stream, absl::string_view payload) {
  const size_t size = payload.size();
  std::string frame = {static_cast<char>(size >> 16),
                       static_cast<char>(size >> 8),
                       static_cast<char>(size),
                       type,
                       flags,
                       0,
                       0,
                       static_cast<char>(stream >> 8),
                       static_cast<char>(stream)};
  absl::StrAppend(&frame, payload);
  return frame;
}

// Begins HTTP/2, never acknowledges the server's limits, makes calls, and asks for an echo.
// `metadata`: further headers of each call, in HPACK.
std::string CallsWithout(absl::string_view metadata, uint16_t calls = 1) {
  constexpr char kSettings = 4, kHeaders = 1, kEndHeaders = 4, kPing = 6;
  // POST, http, and literals: the path, the content's type.
  const std::string headers =
      absl::StrCat("\x83\x86\x04\x04/a/b\x01\x01h\x0f\x10\x10", "application/grpc",
                   absl::string_view("\0\x02te\x08trailers", 13), metadata);
  std::string sent = absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(kSettings, 0, 0, ""));
  for (uint16_t i = 0; i < calls; ++i) {
    sent += Frame(kHeaders, kEndHeaders, static_cast<uint16_t>(2 * i + 1), headers);
  }
  return sent + Frame(kPing, 0, 0, "an echo.");
}

// True once the echo comes; false if the connection ends.
bool Answers(int client, const std::string& sent) {
  EXPECT_EQ(write(client, sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  std::string got;
  char byte = 0;
  while (got.find("an echo.") == std::string::npos) {
    if (read(client, &byte, 1) != 1) return false;
    got.push_back(byte);
  }
  return true;
}

void ReadToTheEnd(int client) {
  char byte = 0;
  while (read(client, &byte, 1) == 1) {
  }
}

// A name of one byte and a value of a hundred, then references to them: 134 bytes each.
std::string Repeated(size_t times) {
  return absl::StrCat(absl::string_view("\x40\x01y\x64", 4), std::string(100, 'z'),
                      std::string(times, '\xbe'));
}

TEST(Acceptor, ACallWithMoreMetadataThanAnyClientHasEndsItsConnection) {
  Served server;
  const int modest = Connect(server.acceptor().port());
  EXPECT_TRUE(Answers(modest, CallsWithout(Repeated(50))));
  EXPECT_EQ(server.acceptor().refused(), 0);
  const int hostile = Connect(server.acceptor().port());
  Answers(hostile, CallsWithout(Repeated(150)));  // the echo may come first
  ReadToTheEnd(hostile);
  EXPECT_EQ(server.acceptor().refused(), 1);
  for (const int client : {modest, hostile}) close(client);
}

// gRPC itself ends the connection, before it has unpacked the headers and handed the call out.
TEST(Acceptor, GrpcsLimitsHoldBeforeAPeerAcknowledgesThem) {
  Served server(ConfigureServer);
  const int headers = Connect(server.acceptor().port());
  Answers(headers, CallsWithout(Repeated(4000)));
  ReadToTheEnd(headers);
  EXPECT_EQ(server.acceptor().refused(), 0);
  const int few = Connect(server.acceptor().port());
  EXPECT_TRUE(Answers(few, CallsWithout("", kMaxStreamsPerConnection)));
  const int many = Connect(server.acceptor().port());
  EXPECT_FALSE(Answers(many, CallsWithout("", 500)));
  for (const int client : {headers, few, many}) close(client);
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
