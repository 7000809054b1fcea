#include "proto/common/http/http_client.h"

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

namespace rapideye::http {
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

constexpr CallLimits kLimits = {.deadline = absl::Seconds(20), .max_answer_bytes = 1000};

Call Get(const std::string& address) { return {.url = absl::StrCat("http://", address, "/page")}; }

TEST(HttpClientTest, BringsEachPage) {
  Listener one;
  Listener other;
  one.AnswerOnce(Ok("a 1\n"));
  other.AnswerOnce(Ok("b 2\n"));
  const std::vector<MaybeReply> answers =
      CallAll({Get(one.address()), Get(other.address())}, kLimits);
  ASSERT_TRUE(answers.at(0).ok()) << answers[0].status();
  EXPECT_EQ(answers[0]->status, 200);
  EXPECT_EQ(answers[0]->body, "a 1\n");
  EXPECT_EQ(answers.at(1)->body, "b 2\n");
  EXPECT_THAT(one.Request(), HasSubstr("GET /page HTTP/1.1"));
}

TEST(HttpClientTest, OneThatIsNotThereLeavesTheOtherItsPage) {
  Listener gone;
  gone.Close();
  Listener other;
  other.AnswerOnce(Ok("b 2\n"));
  const std::vector<MaybeReply> answers =
      CallAll({Get(gone.address()), Get(other.address())}, kLimits);
  EXPECT_EQ(answers.at(0).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(answers.at(1).ok());
}

TEST(HttpClientTest, OneThatNeverAnswersIsGivenUp) {
  Listener silent;  // connects, by the kernel, and says nothing
  const MaybeReply answer = CallOne(Get(silent.address()),
                                    {.deadline = absl::Milliseconds(50), .max_answer_bytes = 1000});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
}

TEST(HttpClientTest, AnAnswerIsAsLongAsItMayBeAndNoLonger) {
  Listener server;
  server.AnswerOnce(Ok(std::string(kLimits.max_answer_bytes, 'x')));
  EXPECT_TRUE(CallOne(Get(server.address()), kLimits).ok());
  Listener longer;
  longer.AnswerOnce(Ok(std::string(kLimits.max_answer_bytes + 1, 'x')));
  EXPECT_EQ(CallOne(Get(longer.address()), kLimits).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(HttpClientTest, SendsHeadersAndPostsABody) {
  Listener server;
  server.AnswerOnce(Ok("taken"));
  Call call = Get(server.address());
  call.headers = {"Content-Type: application/json"};
  call.body = "{}";
  EXPECT_EQ(DocumentOf(CallOne(call, kLimits)).value_or(""), "taken");
  const std::string request = server.Request();
  EXPECT_THAT(request, HasSubstr("POST /page HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Length: 2\r\n"));
}

TEST(HttpClientTest, TheStatusSaysWhy) {
  for (const auto& [answer, code] :
       {std::pair("HTTP/1.1 404 Not Found", absl::StatusCode::kNotFound),
        std::pair("HTTP/1.1 401 Unauthorized", absl::StatusCode::kPermissionDenied),
        std::pair("HTTP/1.1 403 Forbidden", absl::StatusCode::kPermissionDenied),
        std::pair("HTTP/1.1 500 Internal Server Error", absl::StatusCode::kUnavailable),
        std::pair("no HTTP", absl::StatusCode::kUnavailable)}) {
    Listener server;
    server.AnswerOnce(absl::StrCat(answer, "\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_EQ(DocumentOf(CallOne(Get(server.address()), kLimits)).status().code(), code) << answer;
  }
}

TEST(HttpClientTest, FollowsNoRedirectionAndReadsNoFile) {
  Listener target;
  Listener server;
  server.AnswerOnce(absl::StrCat("HTTP/1.1 302 Found\r\nLocation: http://", target.address(),
                                 "/page\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(std::string(DocumentOf(CallOne(Get(server.address()), kLimits)).status().message()),
              HasSubstr("status 302"));
  EXPECT_FALSE(CallOne({.url = "file:///etc/hostname"}, kLimits).ok());
}

}  // namespace
}  // namespace rapideye::http
