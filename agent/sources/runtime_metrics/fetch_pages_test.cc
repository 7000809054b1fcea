#include "agent/sources/runtime_metrics/fetch_pages.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/sources/runtime_metrics/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

// Listens on a free port of the loopback.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
    listen(socket_, 4);
  }
  ~Listener() { Close(); }

  const std::string& address() const { return address_; }
  void Close() {
    if (socket_ >= 0) close(std::exchange(socket_, -1));
  }

  // Answers one request with these bytes, and closes.
  void AnswerOnce(std::string bytes) {
    answering_ = std::jthread([this, bytes = std::move(bytes)] {
      const int peer = accept(socket_, nullptr, nullptr);
      char request[4096];
      const ssize_t got = read(peer, request, sizeof(request));
      request_.assign(request, static_cast<size_t>(std::max<ssize_t>(got, 0)));
      for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t now = send(peer, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (now <= 0) break;
        sent += static_cast<size_t>(now);
      }
      close(peer);
    });
  }
  std::string Request() {
    answering_.join();
    return request_;
  }

 private:
  int socket_;
  std::string address_;
  std::string request_;
  std::jthread answering_;
};

std::string Ok(const std::string& body) {
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

constexpr absl::Duration kLong = absl::Seconds(20);

TEST(FetchPagesTest, BringsEachPage) {
  Listener one;
  Listener other;
  one.AnswerOnce(Ok("a 1\n"));
  other.AnswerOnce(Ok("b 2\n"));
  const std::vector<Page> pages = FetchPages({one.address(), other.address()}, kLong);
  ASSERT_TRUE(pages.at(0).ok()) << pages[0].status();
  EXPECT_EQ(*pages[0], "a 1\n");
  EXPECT_EQ(pages.at(1).value_or(""), "b 2\n");
  EXPECT_THAT(one.Request(), HasSubstr("GET /metrics HTTP/1.1"));
}

TEST(FetchPagesTest, OneThatIsNotThereLeavesTheOtherItsPage) {
  Listener gone;
  gone.Close();
  Listener other;
  other.AnswerOnce(Ok("b 2\n"));
  const std::vector<Page> pages = FetchPages({gone.address(), other.address()}, kLong);
  EXPECT_EQ(pages.at(0).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(pages.at(1).ok());
}

TEST(FetchPagesTest, OneThatNeverAnswersIsGivenUp) {
  Listener silent;  // connects, by the kernel, and says nothing
  const std::vector<Page> pages = FetchPages({silent.address()}, absl::Milliseconds(50));
  EXPECT_EQ(pages.at(0).status().code(), absl::StatusCode::kUnavailable);
}

TEST(FetchPagesTest, APageWithoutEndIsGivenUp) {
  Listener server;
  server.AnswerOnce(Ok(std::string(kMaxMetricsPageBytes + 1, 'x')));
  const std::vector<Page> pages = FetchPages({server.address()}, kLong);
  EXPECT_EQ(pages.at(0).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(FetchPagesTest, ErrorsAndRedirectionsAreNoPages) {
  for (const char* answer :
       {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "no HTTP\r\n\r\n"}) {
    Listener server;
    server.AnswerOnce(answer);
    EXPECT_FALSE(FetchPages({server.address()}, kLong).at(0).ok()) << answer;
  }
  Listener target;
  Listener server;
  server.AnswerOnce(absl::StrCat("HTTP/1.1 302 Found\r\nLocation: http://", target.address(),
                                 "/metrics\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(FetchPages({server.address()}, kLong).at(0).value_or("none"), "");
}

}  // namespace
}  // namespace rapideye::agent
