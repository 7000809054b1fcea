#include "agent/sources/tcp/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Message(uint16_t type, const std::string& body) {
  nlmsghdr header = {};
  header.nlmsg_type = type;
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + body.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + body;
}

std::string Connection(size_t info_bytes = sizeof(tcp_info)) {
  inet_diag_msg body = {};
  body.idiag_family = AF_INET;
  body.idiag_state = TCP_ESTABLISHED;
  std::memcpy(body.id.idiag_src, "\x7f\x4d\x01\x02", 4);
  std::memcpy(body.id.idiag_dst, "\x7f\x4d\x00\x01", 4);
  body.idiag_wqueue = 80'000;
  body.idiag_inode = 77;
  tcp_info info = {};
  info.tcpi_last_ack_recv = 4'100;
  info.tcpi_total_retrans = 4;
  const uint16_t attribute[2] = {static_cast<uint16_t>(4 + info_bytes), INET_DIAG_INFO};
  return std::string(reinterpret_cast<const char*>(&body), sizeof(body)) +
         std::string(reinterpret_cast<const char*>(attribute), sizeof(attribute)) +
         std::string(reinterpret_cast<const char*>(&info), info_bytes);
}

TEST(ParseSockDiagTest, ReadsConnectionsUntilTheEnd) {
  std::vector<TcpConnection> connections;
  const std::string datagram = Message(SOCK_DIAG_BY_FAMILY, Connection());
  EXPECT_FALSE(*ParseSockDiag(datagram + datagram, connections));
  ASSERT_THAT(connections, SizeIs(2));
  EXPECT_EQ(connections[1].local, FromV4({127, 77, 1, 2}));
  EXPECT_EQ(connections[1].remote, FromV4({127, 77, 0, 1}));
  EXPECT_EQ(connections[1].inode, 77u);
  EXPECT_EQ(connections[1].send_queue_bytes, 80'000);
  EXPECT_EQ(connections[1].since_ack_ms, 4'100);
  EXPECT_EQ(connections[1].retransmits, 4);
  EXPECT_TRUE(*ParseSockDiag(Message(NLMSG_DONE, std::string(4, '\0')), connections));
}

TEST(ParseSockDiagTest, AnOlderKernelTellsLess) {
  std::vector<TcpConnection> connections;
  EXPECT_TRUE(ParseSockDiag(Message(SOCK_DIAG_BY_FAMILY, Connection(60)), connections).ok());
  EXPECT_EQ(connections.at(0).since_ack_ms, 4'100);
  EXPECT_EQ(connections.at(0).retransmits, 0);
}

TEST(ParseSockDiagTest, TheKernelsErrorsComeBack) {
  std::vector<TcpConnection> connections;
  const int32_t error = -13;
  const std::string body(reinterpret_cast<const char*>(&error), sizeof(error));
  const auto done = ParseSockDiag(Message(NLMSG_ERROR, body), connections);
  EXPECT_EQ(done.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(done.status().message()), HasSubstr("error 13"));
}

TEST(ParseSockDiagTest, EveryCutIsNoticed) {
  const std::string whole = Message(SOCK_DIAG_BY_FAMILY, Connection());
  for (size_t size = 1; size < whole.size(); ++size) {
    std::vector<TcpConnection> connections;
    EXPECT_FALSE(ParseSockDiag(whole.substr(0, size), connections).ok()) << size;
    EXPECT_THAT(connections, IsEmpty());
  }
  std::vector<TcpConnection> connections;
  EXPECT_FALSE(ParseSockDiag(Message(SOCK_DIAG_BY_FAMILY, std::string(20, 'x')), connections).ok());
  std::string bad_attribute = Connection();
  bad_attribute[sizeof(inet_diag_msg)] = 1;  // shorter than its own header
  bad_attribute[sizeof(inet_diag_msg) + 1] = 0;
  EXPECT_FALSE(ParseSockDiag(Message(SOCK_DIAG_BY_FAMILY, bad_attribute), connections).ok());
}

TEST(ParseSockDiagTest, RefusesALengthThatIsNonsense) {
  for (const uint32_t length : {0u, 15u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    std::string datagram = Message(SOCK_DIAG_BY_FAMILY, Connection());
    std::memcpy(datagram.data(), &length, sizeof(length));
    std::vector<TcpConnection> connections;
    EXPECT_EQ(ParseSockDiag(datagram, connections).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(connections, IsEmpty());
  }
}

Peers MustParse(const std::vector<std::string>& peers, const std::string& address_template) {
  const absl::StatusOr<Peers> parsed = Peers::Parse(peers, address_template);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value_or(Peers());
}

TEST(PeersTest, FindsWorkersByTableAndByTemplate) {
  const Peers peers = MustParse({"3/4=10.0.0.7", "3/4=fe80::7"}, "127.77.{slice}.{task}");
  EXPECT_EQ(peers.WorkerOfAddress(FromV4({10, 0, 0, 7})), (WorkerId{3, 4}));
  EXPECT_EQ(peers.WorkerOfAddress(*ParseIpAddress("fe80::7")), (WorkerId{3, 4}));
  EXPECT_EQ(peers.WorkerOfAddress(FromV4({127, 77, 1, 2})), (WorkerId{1, 2}));
  EXPECT_EQ(peers.WorkerOfAddress(FromV4({127, 78, 1, 2})), std::nullopt);
  EXPECT_EQ(peers.WorkerOfAddress(*ParseIpAddress("fe80::8")), std::nullopt);
  EXPECT_EQ(MustParse({}, "").WorkerOfAddress(FromV4({10, 0, 0, 7})), std::nullopt);
  EXPECT_EQ(MustParse({}, "10.0.0.{task}").WorkerOfAddress(FromV4({10, 0, 0, 9})),
            (WorkerId{0, 9}));
}

TEST(PeersTest, RefusesWhatIsMalformed) {
  for (const char* peer : {"", "1/2", "1=10.0.0.1", "1/2=host", "-1/2=10.0.0.1", "1/x=10.0.0.1",
                           "1/2=10.0.0.1:80", "1/99999999=10.0.0.1"}) {
    EXPECT_FALSE(Peers::Parse({peer}, "").ok()) << peer;
  }
  EXPECT_FALSE(Peers::Parse({"1/2=10.0.0.1", "1/3=10.0.0.1"}, "").ok());
  for (const char* text : {"10.0.0.1", "10.{slice}.0.1", "{task}", "10.{task}.{task}.1",
                           "10.0.0.x{task}", "10.0.300.{task}", "10.0.0.0.{task}"}) {
    EXPECT_FALSE(Peers::Parse({}, text).ok()) << text;
  }
}

TEST(TrafficTest, SumsWhatConnectionsOfTheProcessMove) {
  TcpConnection one;
  one.inode = 7;
  one.bytes_moved = 1'000;
  TcpConnection other_process = one;
  other_process.inode = 8;
  Traffic traffic;
  EXPECT_EQ(traffic.Add({one, other_process}, {7}), 0);
  one.bytes_moved = 1'500;
  other_process.bytes_moved = 9'000;
  EXPECT_EQ(traffic.Add({one, other_process}, {7}), 500);
  // A new one counts from its beginning, a closed one takes nothing away.
  TcpConnection opened = one;
  opened.inode = 9;
  opened.bytes_moved = 40;
  EXPECT_EQ(traffic.Add({opened}, {7, 9}), 540);
  EXPECT_EQ(traffic.Add({}, {}), 540);
}

TEST(SocketsOfTest, KeepsThoseOfTheProcessToOthers) {
  const Peers peers = MustParse({}, "127.77.{slice}.{task}");
  TcpConnection ours;
  ours.local = FromV4({127, 77, 1, 2});
  ours.remote = FromV4({127, 77, 0, 1});
  ours.inode = 7;
  ours.send_queue_bytes = 1;
  TcpConnection fuller = ours;
  fuller.remote = FromV4({127, 77, 0, 2});
  fuller.send_queue_bytes = 9;
  TcpConnection other_process = ours;
  other_process.inode = 8;
  TcpConnection to_self = ours;
  to_self.remote = ours.local;
  TcpConnection elsewhere = ours;
  elsewhere.remote = FromV4({8, 8, 8, 8});
  TcpConnection to_loopback = ours;
  to_loopback.remote = FromV4({127, 0, 0, 1});
  TcpConnection to_own_address = ours;
  to_own_address.remote = FromV4({10, 0, 0, 1});
  const SocketReading reading =
      SocketsOf({ours, fuller, other_process, to_self, elsewhere, to_loopback, to_own_address}, {7},
                peers, {1, 2}, {{ours.local, "lo"}, {to_own_address.remote, "eth0"}});
  ASSERT_THAT(reading.sockets, SizeIs(2));
  EXPECT_EQ(reading.sockets[0].peer, (WorkerId{0, 2}));
  EXPECT_EQ(reading.sockets[1].peer, (WorkerId{0, 1}));
  EXPECT_EQ(reading.sockets[1].nic, "lo");
  ASSERT_THAT(reading.strangers, SizeIs(1));
  EXPECT_EQ(reading.strangers[0].address, elsewhere.remote);
  EXPECT_EQ(reading.strangers[0].socket.unacked_bytes, 1);
}

}  // namespace
}  // namespace rapideye::agent
