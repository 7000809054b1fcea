#include "tests/testbed/worker/input_metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace rapideye::testbed {
namespace {

std::string Page(const InputPipe::Readiness& readiness) {
  constexpr absl::string_view kName = "grain_python_dataset_prefetch_buffer_ready_count";
  return absl::StrCat("# HELP ", kName, " Elements ready\n# TYPE ", kName, " histogram\n", kName,
                      "_bucket{le=\"+Inf\",name=\"batches\"} ", readiness.looks, ".0\n", kName,
                      "_count{name=\"batches\"} ", readiness.looks, ".0\n", kName,
                      "_sum{name=\"batches\"} ", readiness.ready, ".0\n");
}

}  // namespace

absl::StatusOr<std::unique_ptr<http::HttpServer>> ServeInputMetrics(const std::string& address,
                                                                    InputPipe& input) {
  if (address.empty()) return nullptr;
  return http::HttpServer::Start({.address = address}, [&input](const http::Request&) {
    return http::Response{.content_type = "text/plain; version=0.0.4",
                          .body = Page(input.readiness()),
                          .headers = {}};
  });
}

}  // namespace rapideye::testbed
