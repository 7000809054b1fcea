#include "proto/common/http/http_client.h"

#include <curl/curl.h>

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rapideye::http {
namespace {

// libcurl declares both kinds of handle as void.
struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// A call under way. libcurl holds its address.
class Transfer {
 public:
  Transfer(const Call& call, const CallLimits& limits)
      : max_bytes_(limits.max_answer_bytes), easy_(curl_easy_init()) {
    CURL* const easy = easy_.get();
    if (easy == nullptr) return;
    for (const std::string& header : call.headers) {
      curl_slist* const longer = curl_slist_append(headers_.get(), header.c_str());
      if (longer == nullptr) continue;
      static_cast<void>(headers_.release());
      headers_.reset(longer);
    }
    curl_easy_setopt(easy, CURLOPT_URL, call.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
    if (!call.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, call.ca.c_str());
    if (call.body.has_value()) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(call.body->size()));
      curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, call.body->data());
    }
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(limits.deadline / absl::Milliseconds(1)));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_.get(); }
  void NoteDone(CURLcode result) { result_ = result; }

  MaybeReply Result() {
    if (easy_ == nullptr) return absl::UnavailableError("libcurl cannot be used");
    if (too_large_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the answer has more than ", max_bytes_, " bytes"));
    }
    if (result_ != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(result_));
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return Reply{static_cast<int>(status), std::move(body_)};
  }

 private:
  static size_t Receive(const char* data, size_t size, size_t count, void* to) {
    auto* const transfer = static_cast<Transfer*>(to);
    const size_t bytes = size * count;
    transfer->too_large_ = transfer->body_.size() + bytes > transfer->max_bytes_;
    if (transfer->too_large_) return 0;  // ends the transfer
    transfer->body_.append(data, bytes);
    return bytes;
  }

  const size_t max_bytes_;
  std::unique_ptr<curl_slist, FreeList> headers_;  // outlives easy_, which reads it
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::string body_;
  bool too_large_ = false;
  CURLcode result_ = CURLE_OPERATION_TIMEDOUT;  // until it is done
};

void NoteDone(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->NoteDone(message->data.result);
  }
}

}  // namespace

std::vector<MaybeReply> CallAll(const std::vector<Call>& calls, const CallLimits& limits) {
  static std::once_flag initialised;  // which libcurl does not guard by itself
  std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURLM, FreeMulti> multi(curl_multi_init());
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (const Call& call : calls) {
    transfers.push_back(std::make_unique<Transfer>(call, limits));
    curl_multi_add_handle(multi.get(), transfers.back()->easy());
  }
  // Each call ends by its own time limit.
  int running = static_cast<int>(calls.size());
  while (running > 0 && curl_multi_perform(multi.get(), &running) == CURLM_OK && running > 0) {
    if (curl_multi_poll(multi.get(), nullptr, 0, /*timeout_ms=*/100, nullptr) != CURLM_OK) break;
  }
  NoteDone(multi.get());
  std::vector<MaybeReply> replies;
  for (const std::unique_ptr<Transfer>& transfer : transfers) {
    curl_multi_remove_handle(multi.get(), transfer->easy());
    replies.push_back(transfer->Result());
  }
  return replies;
}

MaybeReply CallOne(const Call& call, const CallLimits& limits) {
  return std::move(CallAll({call}, limits)[0]);
}

absl::StatusOr<std::string> DocumentOf(MaybeReply reply) {
  if (!reply.ok()) return reply.status();
  const std::string text = absl::StrCat("it answers with status ", reply->status);
  if (reply->status == 404) return absl::NotFoundError(text);
  if (reply->status == 401 || reply->status == 403) return absl::PermissionDeniedError(text);
  if (reply->status < 200 || reply->status > 299) return absl::UnavailableError(text);
  return std::move(reply->body);
}

}  // namespace rapideye::http
