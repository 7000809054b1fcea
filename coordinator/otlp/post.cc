#include "coordinator/otlp/post.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "proto/common/http/http_client.h"

namespace rapideye::coordinator {
namespace {

// A receiver says little beside its status.
constexpr size_t kMaxAnswerBytes = 64 << 10;

bool AsksForAnotherTry(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

absl::Status PostJson(const std::string& url, const std::string& body) {
  // Without the second header libcurl waits for the receiver's leave to send a large body.
  const http::MaybeReply reply = http::CallOne(
      {.url = url, .headers = {"Content-Type: application/json", "Expect:"}, .body = body},
      {.deadline = kPostDeadline, .max_answer_bytes = kMaxAnswerBytes});
  // The server got the logs, and sends them back, or a page: sending them again helps nobody.
  if (absl::IsResourceExhausted(reply.status())) {
    return absl::InvalidArgumentError(reply.status().message());
  }
  if (!reply.ok()) return reply.status();
  if (reply->status >= 200 && reply->status < 300) return absl::OkStatus();
  const std::string text = absl::StrCat("it answers with status ", reply->status);
  return AsksForAnotherTry(reply->status) ? absl::UnavailableError(text)
                                          : absl::InvalidArgumentError(text);
}

}  // namespace rapideye::coordinator
