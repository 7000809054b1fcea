#include "proto/common/http/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/common/clock/clock.h"
#include "proto/common/http/listening_socket.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/periodic_worker.h"
#include "proto/transport/credentials.h"

namespace rapideye::http {
namespace {

// A scraper, a few probes and a few people's browsers, with room to spare.
constexpr unsigned kMaxConnections = 128;
// Connections of one peer, so that a slow reader does not shut out the others.
constexpr unsigned kMaxConnectionsPerPeer = kMaxConnections / 2;
// Connections whose requests are on their way: the oldest makes room.
constexpr size_t kMaxUnfinished = kMaxConnectionsPerPeer / 2;
constexpr absl::Duration kRequestTime = absl::Seconds(kRequestSeconds);
// Connections whose answers are on their way, which a peer may read as slowly as it likes: the
// oldest makes room. Together with unfinished requests they leave a peer some connections.
constexpr size_t kMaxUnread = kMaxUnfinished - 4;
// A capture of the largest size takes less on any network.
constexpr absl::Duration kAnswerTime = absl::Minutes(2);
// How often overdue requests are looked for.
constexpr absl::Duration kRequestCheck = absl::Milliseconds(250);
// Several, so that one handler that waits does not hold up a probe.
constexpr unsigned kThreads = 4;
// Memory of one connection: the request's headers have to fit.
constexpr size_t kConnectionMemory = 16 << 10;
// An idle connection is closed after this, in seconds.
constexpr unsigned kIdleTimeout = 10;
// Bodies held for readers that are slow. One is always taken.
constexpr int64_t kMaxBytesInFlight = int64_t{512} << 20;

// True if it names only hosts that no foreign name server could have named.
bool IsLocalHost(std::string host) {
  const bool in_brackets = host.starts_with('[');
  const size_t end = in_brackets ? host.find(']') : host.find(':');
  const std::string port = end == std::string::npos ? "" : host.substr(end + (in_brackets ? 1 : 0));
  if (!port.empty() && port.find_first_not_of(":0123456789") != std::string::npos) return false;
  host = host.substr(in_brackets ? 1 : 0,
                     end == std::string::npos ? end : end - (in_brackets ? 1 : 0));
  std::array<unsigned char, sizeof(in6_addr)> address = {};
  return absl::EqualsIgnoreCase(host, "localhost") ||
         inet_pton(in_brackets ? AF_INET6 : AF_INET, host.c_str(), address.data()) == 1;
}

// The library's own complaints are about peers and need not be logged.
void LogComplaint(void*, const char* format, va_list arguments) {
  char text[512] = {};
  vsnprintf(text, sizeof(text), format, arguments);
  spdlog::debug("http: {}", text);
}

}  // namespace

// Shuts down the connections that take too long, whose library then closes them. Thread-safe.
class HttpServer::Requests {
 public:
  Requests()
      : worker_([this](bool) {
          const absl::Duration now = MonotonicTime();
          CutOff(now);
          return now + kRequestCheck;
        }) {}

  // The connection's request is on its way.
  void Begin(const MHD_Connection* connection, int descriptor) {
    const MutexLock lock(mutex_);
    arriving_[connection] = {MonotonicTime(), descriptor};
    MakeRoom(arriving_, kMaxUnfinished);
  }
  // The connection's request is there: its answer is on its way from now on.
  void Arrived(const MHD_Connection* connection) {
    const MutexLock lock(mutex_);
    const auto found = arriving_.find(connection);
    if (found == arriving_.end()) return;
    answered_[connection] = {MonotonicTime(), found->second.descriptor};
    arriving_.erase(found);
    MakeRoom(answered_, kMaxUnread);
  }
  // The connection is about to be closed.
  void End(const MHD_Connection* connection) {
    const MutexLock lock(mutex_);
    arriving_.erase(connection);
    answered_.erase(connection);
  }

 private:
  struct Begun {
    absl::Duration at;
    int descriptor = -1;
  };

  using Connections = std::map<const MHD_Connection*, Begun>;

  static void MakeRoom(Connections& connections, size_t most) {
    if (connections.size() <= most) return;
    const auto oldest =
        std::min_element(connections.begin(), connections.end(),
                         [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
    shutdown(oldest->second.descriptor, SHUT_RDWR);
    connections.erase(oldest);
  }

  static void CutOff(Connections& connections, absl::Duration begun_before) {
    for (auto it = connections.begin(); it != connections.end();) {
      const bool overdue = it->second.at < begun_before;
      if (overdue) shutdown(it->second.descriptor, SHUT_RDWR);
      it = overdue ? connections.erase(it) : std::next(it);
    }
  }

  void CutOff(absl::Duration now) {
    const MutexLock lock(mutex_);
    CutOff(arriving_, now - kRequestTime);
    CutOff(answered_, now - kAnswerTime);
  }

  Mutex mutex_;
  Connections arriving_ ABSL_GUARDED_BY(mutex_);
  Connections answered_ ABSL_GUARDED_BY(mutex_);
  PeriodicWorker worker_;
};

HttpServer::HttpServer(Handler handler)
    : handler_(std::move(handler)), requests_(std::make_unique<Requests>()) {}

// A body on its way, which the library gives back through Free.
struct HttpServer::Library {
  struct Body {
    std::atomic<int64_t>* in_flight;
    std::string bytes;
  };
  static void Free(void* body) {
    auto* const b = static_cast<Body*>(body);
    *b->in_flight -= static_cast<int64_t>(b->bytes.size());
    delete b;
  }

  static MHD_Result Queue(HttpServer& server, MHD_Connection* connection, Response answer) {
    const auto size = static_cast<int64_t>(answer.body.size());
    if (server.bytes_in_flight_.fetch_add(size) + size > kMaxBytesInFlight &&
        server.bytes_in_flight_ != size) {
      server.bytes_in_flight_ -= size;
      return Queue(server, connection,
                   {.status = 503, .body = "too much is being sent already\n", .headers = {}});
    }
    auto* const body = new Body{&server.bytes_in_flight_, std::move(answer.body)};
    MHD_Response* const response = MHD_create_response_from_buffer_with_free_callback_cls(
        body->bytes.size(), body->bytes.data(), Free, body);
    if (response == nullptr) {
      Free(body);
      return MHD_NO;
    }
    answer.headers.emplace_back(MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type);
    // A second request could dribble as long as it likes.
    answer.headers.emplace_back(MHD_HTTP_HEADER_CONNECTION, "close");
    for (const auto& [name, value] : answer.headers) {
      MHD_add_response_header(response, name.c_str(), value.c_str());
    }
    const MHD_Result queued =
        MHD_queue_response(connection, static_cast<unsigned>(answer.status), response);
    MHD_destroy_response(response);
    return queued;
  }

  static void Begin(HttpServer& server, MHD_Connection* connection) {
    const MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr) server.requests_->Begin(connection, info->connect_fd);
  }
  static void OnConnection(void* cls, MHD_Connection* connection, void**,
                           MHD_ConnectionNotificationCode code) {
    HttpServer& server = *static_cast<HttpServer*>(cls);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      Begin(server, connection);
    } else {
      server.requests_->End(connection);
    }
  }

  // First called when the headers are there, with *seen == nullptr, then when the
  // request is. Whatever is no GET or HEAD is answered at once: its body is not
  // even read.
  static MHD_Result OnRequest(void* cls, MHD_Connection* connection, const char* path,
                              const char* method, const char* /*version*/, const char* /*upload*/,
                              size_t* upload_size, void** seen) {
    static int mark = 0;
    HttpServer& server = *static_cast<HttpServer*>(cls);
    const bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (*seen == nullptr && reads) {
      *seen = &mark;
      return MHD_YES;
    }
    if (*upload_size != 0) return MHD_NO;  // a GET with a body: closed
    server.requests_->Arrived(connection);
    const char* const host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    if (server.only_local_ && host != nullptr && !IsLocalHost(host)) {
      return Queue(server, connection,
                   {.status = 403,
                    .body = "ask by address or as localhost: this host name may be another's\n",
                    .headers = {}});
    }
    return Queue(server, connection, server.Answer(method, path));
  }
};

Response HttpServer::Answer(const char* method, const char* path) const {
  Response response;
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
    response = {.status = 405, .body = "only GET and HEAD\n", .headers = {{"Allow", "GET, HEAD"}}};
  } else {
    try {
      response = handler_({.path = path});
    } catch (const std::exception& error) {
      spdlog::error("http: cannot answer: {}", error.what());
      response = {.status = 500, .body = "internal error\n", .headers = {}};
    }
  }
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Options& options,
                                                              Handler handler) {
  if (options.address.find(':') == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.address, " is not ADDRESS:PORT, such as 127.0.0.1:9490"));
  }
  if (!options.insecure && !transport::IsLoopback(options.address)) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.address,
        " can be reached by others, and HTTP has neither TLS nor passwords; take 127.0.0.1, or "
        "set --insecure"));
  }
  const absl::StatusOr<ListeningSocket> socket = Listen(options.address);
  if (!socket.ok()) return socket.status();
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(handler)));
  server->address_ = socket->address;
  server->only_local_ = transport::IsLoopback(options.address);
  server->daemon_ = MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, nullptr, nullptr,
      &Library::OnRequest, server.get(), MHD_OPTION_EXTERNAL_LOGGER, &LogComplaint, nullptr,
      MHD_OPTION_LISTEN_SOCKET, socket->descriptor, MHD_OPTION_THREAD_POOL_SIZE, kThreads,
      MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
      kMaxConnectionsPerPeer, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleTimeout, MHD_OPTION_NOTIFY_CONNECTION,
      &Library::OnConnection, server.get(), MHD_OPTION_END);
  if (server->daemon_ == nullptr) {
    close(socket->descriptor);
    return absl::UnavailableError(absl::StrCat("cannot serve on ", options.address));
  }
  return server;
}

HttpServer::~HttpServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(static_cast<MHD_Daemon*>(daemon_));
}

}  // namespace rapideye::http
