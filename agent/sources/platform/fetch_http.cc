#include "agent/sources/platform/fetch_http.h"

#include <curl/curl.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/platform/limits.h"

namespace rapideye::agent {
namespace {

// To libcurl a handle is void.
struct FreeHandle {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Answer {
  std::string body;
  bool too_large = false;
};

size_t Receive(const char* data, size_t size, size_t count, void* to) {
  auto* const answer = static_cast<Answer*>(to);
  const size_t bytes = size * count;
  answer->too_large = answer->body.size() + bytes > kMaxPlatformAnswerBytes;
  if (answer->too_large) return 0;  // ends the transfer
  answer->body.append(data, bytes);
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> GetDocument(const HttpQuestion& question, absl::Duration deadline) {
  const std::unique_ptr<CURL, FreeHandle> handle(curl_easy_init());
  CURL* const easy = handle.get();
  if (easy == nullptr) return absl::UnavailableError("libcurl cannot be used");
  std::unique_ptr<curl_slist, FreeList> headers;
  for (const std::string& header : question.headers) {
    curl_slist* const longer = curl_slist_append(headers.get(), header.c_str());
    if (longer == nullptr) continue;
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  Answer answer;
  curl_easy_setopt(easy, CURLOPT_URL, question.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  if (!question.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, question.ca.c_str());
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(deadline / absl::Milliseconds(1)));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer);
  const CURLcode result = curl_easy_perform(easy);
  if (answer.too_large) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the answer has more than ", kMaxPlatformAnswerBytes, " bytes"));
  }
  if (result != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(result));
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status == 404) return absl::NotFoundError("it answers with status 404");
  const std::string text = absl::StrCat("it answers with status ", status);
  if (status == 401 || status == 403) return absl::PermissionDeniedError(text);
  if (status != 200) return absl::UnavailableError(text);
  return std::move(answer.body);
}

}  // namespace rapideye::agent
