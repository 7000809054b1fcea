#include "agent/sources/runtime_metrics/fetch_pages.h"

#include <curl/curl.h>

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/runtime_metrics/limits.h"

namespace rapideye::agent {
namespace {

// To libcurl both kinds of handle are void.
struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

struct Transfer {
  std::unique_ptr<CURL, FreeEasy> easy;
  std::string body;
  bool too_large = false;
  CURLcode result = CURLE_OPERATION_TIMEDOUT;  // until it is done
};

size_t Receive(const char* data, size_t size, size_t count, void* to) {
  auto* const transfer = static_cast<Transfer*>(to);
  const size_t bytes = size * count;
  transfer->too_large = transfer->body.size() + bytes > kMaxMetricsPageBytes;
  if (transfer->too_large) return 0;  // ends the transfer
  transfer->body.append(data, bytes);
  return bytes;
}

void Begin(const std::string& address, absl::Duration deadline, CURLM* multi, Transfer& transfer) {
  transfer.easy.reset(curl_easy_init());
  CURL* const easy = transfer.easy.get();
  curl_easy_setopt(easy, CURLOPT_URL, absl::StrCat("http://", address, "/metrics").c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(deadline / absl::Milliseconds(1)));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_multi_add_handle(multi, easy);
}

void NoteDone(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->result = message->data.result;
  }
}

Page Result(Transfer& transfer) {
  if (transfer.too_large) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", kMaxMetricsPageBytes, " bytes"));
  }
  if (transfer.result != CURLE_OK) {
    return absl::UnavailableError(curl_easy_strerror(transfer.result));
  }
  return std::move(transfer.body);
}

}  // namespace

std::vector<Page> FetchPages(const std::vector<std::string>& addresses, absl::Duration deadline) {
  static std::once_flag initialised;
  std::call_once(initialised, [] { curl_global_init(CURL_GLOBAL_NOTHING); });
  std::vector<Transfer> transfers(addresses.size());
  const std::unique_ptr<CURLM, FreeMulti> multi(curl_multi_init());
  for (size_t i = 0; i < addresses.size(); ++i) {
    Begin(addresses[i], deadline, multi.get(), transfers[i]);
  }
  // Each ends by its own time limit.
  int running = static_cast<int>(addresses.size());
  while (running > 0 && curl_multi_perform(multi.get(), &running) == CURLM_OK && running > 0) {
    if (curl_multi_poll(multi.get(), nullptr, 0, /*timeout_ms=*/100, nullptr) != CURLM_OK) break;
  }
  NoteDone(multi.get());
  std::vector<Page> pages;
  for (Transfer& transfer : transfers) {
    curl_multi_remove_handle(multi.get(), transfer.easy.get());
    pages.push_back(Result(transfer));
  }
  return pages;
}

}  // namespace rapideye::agent
