#include "agent/sources/tcp/fetch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace rapideye::agent {
namespace {

sockaddr_in At(const char* address) {
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  inet_pton(AF_INET, address, &result.sin_addr);
  return result;
}

// A connection between two addresses of the loopback, one end never reads.
TEST(ListTcpConnectionsTest, ShowsWhatTheSendQueueHolds) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in server = At("127.77.0.1");
  socklen_t size = sizeof(server);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&server), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&server), &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in from = At("127.77.1.2");
  ASSERT_EQ(bind(client, reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
  connect(client, reinterpret_cast<sockaddr*>(&server), sizeof(server));
  const int accepted = accept(listener, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  const std::string bytes(1 << 16, 'x');
  while (send(client, bytes.data(), bytes.size(), 0) > 0) {
  }

  const auto connections = ListTcpConnections(absl::Seconds(10));
  ASSERT_TRUE(connections.ok()) << connections.status();
  struct stat status = {};
  ASSERT_EQ(fstat(client, &status), 0);
  const auto found = std::find_if(connections->begin(), connections->end(),
                                  [&](const TcpConnection& c) { return c.inode == status.st_ino; });
  ASSERT_NE(found, connections->end());
  EXPECT_EQ(found->local, FromV4({127, 77, 1, 2}));
  EXPECT_EQ(found->remote, FromV4({127, 77, 0, 1}));
  EXPECT_EQ(found->state, SocketState::kEstablished);
  EXPECT_GT(found->send_queue_bytes, 0);
  EXPECT_TRUE(std::none_of(connections->begin(), connections->end(), [](const TcpConnection& c) {
    return c.state == SocketState::kUnspecified;
  }));
  for (const int descriptor : {accepted, client, listener}) close(descriptor);
}

TEST(ListTcpListenersTest, ShowsThoseThatListenAlone) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in server = At("127.77.0.3");
  socklen_t size = sizeof(server);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&server), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&server), &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&server), sizeof(server)), 0);

  const auto listeners = ListTcpListeners(absl::Seconds(10));
  ASSERT_TRUE(listeners.ok()) << listeners.status();
  const auto find = [&](int descriptor) {
    struct stat status = {};
    fstat(descriptor, &status);
    return std::find_if(listeners->begin(), listeners->end(),
                        [&](const TcpConnection& c) { return c.inode == status.st_ino; });
  };
  const auto found = find(listener);
  ASSERT_NE(found, listeners->end());
  EXPECT_EQ(found->local, FromV4({127, 77, 0, 3}));
  EXPECT_EQ(found->local_port, ntohs(server.sin_port));
  EXPECT_EQ(find(client), listeners->end());
  for (const int descriptor : {client, listener}) close(descriptor);
}

}  // namespace
}  // namespace rapideye::agent
