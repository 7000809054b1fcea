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

struct Reply {
  int status = 0;  // 200 and so on; whatever the server says
  std::string body;
};

// UNAVAILABLE: no reply within the deadline, or a malformed one; RESOURCE_EXHAUSTED: more than
// max_answer_bytes.
using MaybeReply = absl::StatusOr<Reply>;

// Blocks until every call has ended. All run at once; replies are in the order of the calls. No
// redirection and no proxy is followed. Thread-safe.
std::vector<MaybeReply> CallAll(const std::vector<Call>& calls, const CallLimits& limits);
MaybeReply CallOne(const Call& call, const CallLimits& limits);

// The body of a reply whose status is 2xx. NOT_FOUND: the server has no such document;
// PERMISSION_DENIED: status 401 or 403; UNAVAILABLE: another status. Other errors as they are.
absl::StatusOr<std::string> DocumentOf(MaybeReply reply);

}  // namespace rapideye::http

#endif  // RAPIDEYE_PROTO_COMMON_HTTP_HTTP_CLIENT_H_
