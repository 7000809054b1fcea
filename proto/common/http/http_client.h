// Gets documents by HTTP or HTTPS, and posts them.
#ifndef RAPIDEYE_PROTO_COMMON_HTTP_HTTP_CLIENT_H_
#define RAPIDEYE_PROTO_COMMON_HTTP_HTTP_CLIENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::http {

struct Call {
  std::string url;
  std::vector<std::string> headers = {};  // "Name: value"
  std::string ca = "";  // PEM file of the CA of an https:// server; empty: the system's
  std::optional<std::string> body = std::nullopt;  // absent: a GET, otherwise a POST
};

struct CallLimits {
  absl::Duration deadline;  // of each call, from connecting to its last byte
  size_t max_answer_bytes;
};

// The body of the answer. NOT_FOUND: the server has no such document; PERMISSION_DENIED: status
// 401 or 403; UNAVAILABLE: no answer within the deadline, a malformed one, or a status that is not
// 2xx; RESOURCE_EXHAUSTED: more than max_answer_bytes.
using Answer = absl::StatusOr<std::string>;

// Blocks until every call has ended. All run at once; answers are in the order of the calls. No
// redirection and no proxy is followed. Thread-safe.
std::vector<Answer> CallAll(const std::vector<Call>& calls, const CallLimits& limits);
Answer CallOne(const Call& call, const CallLimits& limits);

}  // namespace rapideye::http

#endif  // RAPIDEYE_PROTO_COMMON_HTTP_HTTP_CLIENT_H_
