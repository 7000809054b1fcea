#include "coordinator/otlp/post.h"

#include <curl/curl.h>

#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

// To libcurl a handle is void.
struct FreeHandle {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// A receiver may answer with as much as it likes.
constexpr size_t kMaxAnswer = 64 << 10;

size_t Discard(const char* /*data*/, size_t size, size_t count, void* received) {
  auto* const total = static_cast<size_t*>(received);
  *total += size * count;
  return *total > kMaxAnswer ? 0 : size * count;  // 0 ends the transfer
}

bool AsksForAnotherTry(long status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

absl::Status PostJson(const std::string& url, const std::string& body) {
  const std::unique_ptr<CURL, FreeHandle> handle(curl_easy_init());
  CURL* const easy = handle.get();
  if (easy == nullptr) return absl::UnavailableError("libcurl cannot be used");
  std::unique_ptr<curl_slist, FreeList> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"));
  // Without this libcurl waits for the receiver's leave to send a large body.
  if (curl_slist* const longer = curl_slist_append(headers.get(), "Expect:"); longer != nullptr) {
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  size_t received = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(kPostDeadline / absl::Milliseconds(1)));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Discard);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &received);
  const CURLcode result = curl_easy_perform(easy);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  const bool answered = result == CURLE_OK || received > kMaxAnswer;
  if (!answered) return absl::UnavailableError(curl_easy_strerror(result));
  if (status >= 200 && status < 300) return absl::OkStatus();
  const std::string text = absl::StrCat("it answers with status ", status);
  return AsksForAnotherTry(status) ? absl::UnavailableError(text)
                                   : absl::InvalidArgumentError(text);
}

}  // namespace rapideye::coordinator
