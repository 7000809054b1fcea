// Posts one document by HTTP or HTTPS.
#ifndef RAPIDEYE_COORDINATOR_OTLP_POST_H_
#define RAPIDEYE_COORDINATOR_OTLP_POST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace rapideye::coordinator {

// The time from the connection to the whole answer.
inline constexpr absl::Duration kPostDeadline = absl::Seconds(10);

// Posts JSON; reads no more of the answer than its status. Follows no redirection and no proxy.
// UNAVAILABLE: no answer within kPostDeadline, or one that asks for another try (429, 502, 503,
// 504); INVALID_ARGUMENT: any other status than 200 to 299, or an answer of more than 64 KiB.
absl::Status PostJson(const std::string& url, const std::string& body);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_OTLP_POST_H_
