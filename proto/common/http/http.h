// Request and Response hold an HTTP request and its answer, free of any library's types.
#ifndef RAPIDEYE_PROTO_COMMON_HTTP_HTTP_H_
#define RAPIDEYE_PROTO_COMMON_HTTP_HTTP_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rapideye::http {

// Always a GET or a HEAD, which are answered alike.
struct Request {
  std::string path;  // decoded, without the query; any bytes a peer likes
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // any others
};

using Handler = std::function<Response(const Request&)>;

}  // namespace rapideye::http

#endif  // RAPIDEYE_PROTO_COMMON_HTTP_HTTP_H_
