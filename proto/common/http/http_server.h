// HttpServer serves the pages of a daemon over HTTP: GET and HEAD only.
//
// Peers are untrusted. A peer that reads slowly holds one of a bounded number of
// connections, and never a thread. A request has to be there in kRequestSeconds, and of those
// that are still on their way the one that has taken longest makes room for a new one: so a
// probe is answered while others dribble. Requests are bounded by their headers, because bodies
// are not read. On loopback the Host must be an address or localhost: a web page whose name is
// made to mean 127.0.0.1 (DNS rebinding) reads nothing.
#ifndef RAPIDEYE_PROTO_COMMON_HTTP_HTTP_SERVER_H_
#define RAPIDEYE_PROTO_COMMON_HTTP_HTTP_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/common/http/http.h"

namespace rapideye::http {

// Time from the opening of a connection to the last byte of its request.
inline constexpr int kRequestSeconds = 2;

class HttpServer {
 public:
  struct Options {
    std::string address;    // HOST:PORT; port 0 takes a free one
    bool insecure = false;  // also where others can reach it: there is no TLS
  };

  // Answers with `handler` from then on, which is called by a few threads at a
  // time and must return soon. INVALID_ARGUMENT if the address makes no sense, or
  // is not loopback without `insecure`; UNAVAILABLE if it cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const Options& options, Handler handler);
  // Waits for handlers that have been called, and for no peer.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // HOST:PORT with the real port.
  const std::string& address() const { return address_; }

 private:
  struct Library;  // what its callbacks need, and its types
  class Requests;  // requests that are on their way

  explicit HttpServer(Handler handler);

  Response Answer(const char* method, const char* path) const;

  const Handler handler_;
  std::string address_;
  bool only_local_ = false;
  std::unique_ptr<Requests> requests_;
  // Bodies that are being sent.
  std::atomic<int64_t> bytes_in_flight_ = 0;
  void* daemon_ = nullptr;
};

}  // namespace rapideye::http

#endif  // RAPIDEYE_PROTO_COMMON_HTTP_HTTP_SERVER_H_
