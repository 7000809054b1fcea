#include "agent/sources/probe/fetch.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/sources/probe/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A port of this host with a socket on it; after Close most likely without any.
class Port {
 public:
  explicit Port(int type) : socket_(socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in any = {};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(any);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&any), size), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &size), 0);
    number_ = ntohs(any.sin_port);
  }
  ~Port() { Close(); }
  void Listen() const { ASSERT_EQ(listen(socket_, 8), 0); }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  uint16_t number() const { return number_; }

 private:
  int socket_;
  uint16_t number_ = 0;
};

wire::ProbeTarget ToLoopback(std::optional<std::string> nic = std::nullopt) {
  return {.peer = {1, 2}, .nic = std::move(nic), .address = FromV4({127, 0, 0, 1})};
}

ProbeReading ProbeAt(uint16_t port, const wire::ProbeTarget& target) {
  return ProbeAll({target}, {.port = port, .time = kProbeTime});
}

TEST(ProbeAllTest, WhoAcceptsIsReached) {
  const Port port(SOCK_STREAM);
  port.Listen();
  const ProbeReading reading = ProbeAt(port.number(), ToLoopback());
  ASSERT_THAT(reading.probes, SizeIs(1));
  EXPECT_TRUE(reading.probes[0].ok) << reading.probes[0].error.value_or("");
  EXPECT_EQ(reading.probes[0].peer, (WorkerId{1, 2}));
  EXPECT_TRUE(reading.probes[0].rtt_us.has_value());
  EXPECT_EQ(reading.unavailable, "");
}

TEST(ProbeAllTest, WhoRefusesIsReachedToo) {
  Port port(SOCK_STREAM);
  port.Close();
  const ProbeReading reading = ProbeAt(port.number(), ToLoopback("lo"));
  ASSERT_THAT(reading.probes, SizeIs(1));
  EXPECT_TRUE(reading.probes[0].ok) << reading.probes[0].error.value_or("");
  EXPECT_EQ(reading.probes[0].nic, "lo");
}

// A server that holds the port and does not answer is no reason to wait for long, or to conclude
// that large packets vanish.
TEST(ProbeAllTest, DatagramsThatNobodyAnswersAreNoFailure) {
  const Port port(SOCK_DGRAM);
  const ProbeReading reading = ProbeAt(port.number(), ToLoopback());
  ASSERT_THAT(reading.probes, SizeIs(1));
  EXPECT_TRUE(reading.probes[0].ok) << reading.probes[0].error.value_or("");
}

TEST(ProbeAllTest, NoWayToThePeerIsAFailureThatSaysWhy) {
  wire::ProbeTarget nowhere = ToLoopback("lo");
  // The loopback device has no way to such a network.
  nowhere.address = FromV4({203, 0, 113, 1});
  const ProbeReading reading = ProbeAt(kProbePort, nowhere);
  ASSERT_THAT(reading.probes, SizeIs(1));
  EXPECT_FALSE(reading.probes[0].ok);
  EXPECT_TRUE(reading.probes[0].error.has_value());
}

TEST(ProbeAllTest, WhatThisHostCannotTryAccusesNobody) {
  Port port(SOCK_STREAM);
  port.Close();
  const ProbeReading reading = ProbeAll({ToLoopback("no-such-nic"), ToLoopback()},
                                        {.port = port.number(), .time = kProbeTime});
  ASSERT_THAT(reading.probes, SizeIs(1));
  EXPECT_TRUE(reading.probes[0].ok);
  EXPECT_THAT(reading.unavailable, HasSubstr("no-such-nic"));
}

TEST(ProbeAllTest, NothingAskedNothingDone) {
  EXPECT_THAT(ProbeAll({}, {.port = kProbePort, .time = kProbeTime}).probes, IsEmpty());
}

}  // namespace
}  // namespace rapideye::agent
