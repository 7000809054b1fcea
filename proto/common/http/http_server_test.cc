#include "proto/common/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "proto/common/clock/clock.h"
#include "tests/support/http_client.h"

namespace rapideye::http {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { Start(); }

  void Start() {
    auto started = HttpServer::Start({.address = "127.0.0.1:0"}, [this](const Request& request) {
      const std::lock_guard lock(mutex_);
      paths_.push_back(request.path);
      if (request.path == "/throw") throw std::runtime_error("oh");
      return Response{.content_type = "text/x-test", .body = body_, .headers = {{"X-One", "1"}}};
    });
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }

  std::string Ask(const std::string& method, const std::string& path) const {
    return http::Ask(server_->address(), method, path);
  }

  std::mutex mutex_;
  std::vector<std::string> paths_;
  std::string body_ = "hello\n";
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersAGet) {
  EXPECT_THAT(Ask("GET", "/a/b?c=d"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Type: text/x-test\r\n"),
                    HasSubstr("X-One: 1\r\n"), HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                    EndsWith("\r\n\r\nhello\n")));
  EXPECT_THAT(paths_, ElementsAre("/a/b"));
}

TEST_F(HttpServerTest, AHeadHasNoBody) {
  EXPECT_THAT(Ask("HEAD", "/"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 6"),
                                      EndsWith("\r\n\r\n")));
}

TEST_F(HttpServerTest, OtherMethodsAreRefused) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "FROB"}) {
    EXPECT_THAT(Ask(method, "/"), AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD")))
        << method;
  }
  EXPECT_THAT(paths_, IsEmpty());
}

TEST_F(HttpServerTest, ABodyIsNotRead) {
  const Client post(server_->address());
  post.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx");
  EXPECT_THAT(post.ReadAll(), StartsWith("HTTP/1.1 405 "));
  const Client get(server_->address());
  get.Send("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx");
  EXPECT_THAT(get.ReadAll(), Not(HasSubstr("200")));
  EXPECT_THAT(paths_, IsEmpty());
}

TEST_F(HttpServerTest, NonsenseIsClosed) {
  for (const std::string& nonsense :
       {std::string("\x16\x03\x01\x02\x00\x01\r\n\r\n", 10), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("\0\0\0\0\r\n\r\n", 8)}) {
    const Client client(server_->address());
    client.Send(nonsense);
    client.SendNoMore();
    EXPECT_THAT(client.ReadAll(), Not(HasSubstr("200 OK"))) << nonsense;
  }
  EXPECT_THAT(Ask("GET", "/"), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, OversizedHeadersAreRefused) {
  const Client client(server_->address());
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + std::string(20 << 10, 'x') +
              "\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Ask("GET", "/" + std::string(4 << 10, 'x')), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, PathsArriveDecoded) {
  Ask("GET", "/..%2f..%2Fetc/passwd");
  EXPECT_THAT(paths_, ElementsAre("/../../etc/passwd"));
}

TEST_F(HttpServerTest, AHandlerThatThrowsCostsItsAnswerOnly) {
  EXPECT_THAT(Ask("GET", "/throw"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Ask("GET", "/"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, PeersThatDoNotSendOrReadHoldUpNobodyAndNotTheEnd) {
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(std::make_unique<Client>(server_->address()));
    idle.back()->Send(i % 2 == 0 ? "GE" : "GET / HTTP/1.1\r\n");
  }
  body_ = std::string(64 << 20, 'x');
  const Client slow(server_->address());
  slow.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(Ask("HEAD", "/"), HasSubstr("200 OK"));
  server_.reset();  // the test's time limit would tell
}

TEST_F(HttpServerTest, OnePeerLeavesRoomForOthers) {
  std::vector<std::unique_ptr<Client>> dribbling;
  for (int i = 0; i < 200; ++i) dribbling.push_back(std::make_unique<Client>(server_->address()));
  EXPECT_THAT(http::Ask(server_->address(), "GET", "/", "127.0.0.2"), HasSubstr("200 OK"));
}

// Slow clients once kept their connections, and nobody else got an answer.
TEST_F(HttpServerTest, AProbeIsAnsweredWhileAllOthersDribble) {
  std::vector<std::unique_ptr<Client>> dribbling;
  for (const char* from : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    for (int i = 0; i < 64; ++i) {
      dribbling.push_back(std::make_unique<Client>(server_->address(), from));
      try {
        dribbling.back()->Send("GET / HTTP/1.1\r\nX-Slow: ");
      } catch (const std::runtime_error&) {  // it was cut off already
      }
    }
  }
  EXPECT_THAT(Ask("GET", "/healthz"), HasSubstr("200 OK"));
  EXPECT_THAT(http::Ask(server_->address(), "GET", "/healthz", "127.0.0.2"), HasSubstr("200 OK"));
}

// Clients that read nothing kept their connections for as long as they liked.
TEST_F(HttpServerTest, AProbeIsAnsweredWhileAllOthersReadNothing) {
  const absl::Duration begin = MonotonicTime();
  body_ = std::string(4 << 20, 'x');  // more than the kernel takes
  std::vector<std::unique_ptr<Client>> reading;
  for (const char* from : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    for (int i = 0; i < 64; ++i) {
      reading.push_back(std::make_unique<Client>(server_->address(), from));
      try {
        reading.back()->Send("GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n");
        reading.back()->AwaitAnswer();       // a request that has not arrived counts otherwise
      } catch (const std::runtime_error&) {  // it was cut off already
      }
    }
  }
  for (const char* from : {"127.0.0.1", "127.0.0.2"}) {
    EXPECT_THAT(http::Ask(server_->address(), "HEAD", "/healthz", from), HasSubstr("200 OK"));
  }
  // The server does not wait until the connections have been idle for long.
  EXPECT_LT(MonotonicTime() - begin, absl::Seconds(4 * kRequestSeconds));
}

// A chunk's extension is neither a header nor a body, and each byte of it is a sign of life.
TEST_F(HttpServerTest, ARequestThatDoesNotEndInTimeEndsItsConnection) {
  const absl::Duration begin = MonotonicTime();
  std::vector<std::unique_ptr<Client>> dribbling;
  for (const char* from : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    for (int i = 0; i < 64; ++i) {
      dribbling.push_back(std::make_unique<Client>(server_->address(), from));
      try {
        dribbling.back()->Send("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nF;a");
      } catch (const std::runtime_error&) {  // it was cut off already
      }
    }
  }
  EXPECT_THAT(Ask("GET", "/healthz"), HasSubstr("200 OK"));
  for (const auto& slow : dribbling) EXPECT_EQ(slow->ReadAll(), "");
  // The server does not wait until the connection has been idle for long.
  EXPECT_LT(MonotonicTime() - begin, absl::Seconds(4 * kRequestSeconds));
}

TEST_F(HttpServerTest, HeadersThatDoNotComeInTimeEndTheirConnection) {
  const Client slow(server_->address());
  slow.Send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(slow.ReadAll(), "");  // until the server closes; the test's time limit would tell
}

TEST_F(HttpServerTest, OnLoopbackAnotherHostsNameIsRefused) {
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example",
                           "[::1].evil.example", "localhost.evil.example", "", "[evil]"}) {
    const Client rebound(server_->address());
    rebound.Send(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(rebound.ReadAll(), StartsWith("HTTP/1.1 403 ")) << host;
  }
  for (const char* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:9490", "[::1]:80"}) {
    const Client known(server_->address());
    known.Send(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_THAT(known.ReadAll(), StartsWith("HTTP/1.1 200 ")) << host;
  }
}

TEST_F(HttpServerTest, LargeBodiesArriveWhole) {
  body_ = std::string(8 << 20, 'x') + "end";
  EXPECT_THAT(Ask("GET", "/"), EndsWith("end"));
}

TEST_F(HttpServerTest, AnAddressInUseIsNamed) {
  const auto second = HttpServer::Start({.address = server_->address()}, {});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(server_->address()), HasSubstr("in use")));
}

TEST(HttpAddressTest, OthersReachItOnlyIfInsecure) {
  const Handler handler = [](const Request&) { return Response(); };
  const auto refused = HttpServer::Start({.address = "0.0.0.0:0"}, handler);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--insecure"));
  EXPECT_TRUE(HttpServer::Start({.address = "0.0.0.0:0", .insecure = true}, handler).ok());
}

TEST(HttpAddressTest, NonsenseIsNamed) {
  for (const char* address : {"", "9490", ":9490", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x",
                              "::1:80", "no such host:80"}) {
    const auto server = HttpServer::Start({.address = address, .insecure = true}, {});
    EXPECT_TRUE(absl::IsInvalidArgument(server.status())) << address << server.status();
    EXPECT_THAT(std::string(server.status().message()), HasSubstr(address));
  }
  const auto without_port = HttpServer::Start({.address = "localhost"}, {});
  EXPECT_THAT(std::string(without_port.status().message()), HasSubstr("not ADDRESS:PORT"));
}

}  // namespace
}  // namespace rapideye::http
