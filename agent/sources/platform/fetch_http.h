// Gets one document by HTTP or HTTPS.
#ifndef RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_HTTP_H_
#define RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_HTTP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::agent {

struct HttpQuestion {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string ca;                    // PEM file of the CA of an https:// server
};

// Follows no redirection and no proxy. NOT_FOUND: the server knows no such document;
// PERMISSION_DENIED: it refuses it to this agent; UNAVAILABLE: no answer within the deadline, or
// another status; RESOURCE_EXHAUSTED: more than kMaxPlatformAnswerBytes.
absl::StatusOr<std::string> GetDocument(const HttpQuestion& question, absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PLATFORM_FETCH_HTTP_H_
