#include "agent/sources/runtime_metrics/fetch.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/runtime_metrics/limits.h"
#include "agent/sources/runtime_metrics/parse.h"
#include "proto/common/http/http_client.h"
#include "proto/transport/channel_options.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

constexpr char kMethod[] = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric";

// Metrics that show a standstill: programs that wait for the cores and how long they take, since
// when cores idle, whether memory is full, and how long transfers between slices took.
constexpr std::array<const char*, 12> kMetrics = {
    "hlo.queue.size.gauge",
    "hlo.execution.timing.distribution.microseconds",
    "tpu.runtime.tensorcore.idle_duration.seconds",
    "tpu.runtime.tensorcore.dutycycle.percent",
    "tpu.runtime.hbm.memory.usage.bytes",
    "tpu.runtime.hbm.memory.total.bytes",
    "tpu.runtime.uptime.seconds.gauge",
    "megascale.dcn_transfer_latencies.microsecond.cumulative.distribution",
    "megascale.dcn_inbound_transfer_latencies.microsecond.cumulative.distribution",
    "megascale.collective_end_to_end_latencies.microsecond.cumulative.distribution",
    "megascale.grpc_tcp_min_rtt.microsecond.cumulative.distribution",
    "megascale.grpc_tcp_delivery_rate.Mbps.cumulative.distribution",
};

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// One question under way. Lives until its answer has come, which the deadline bounds.
struct Call {
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
};

absl::StatusOr<std::vector<Metric>> Parsed(const char* name, const grpc::Status& status,
                                           const grpc::ByteBuffer& response) {
  if (!status.ok()) {
    return absl::UnavailableError(status.error_message().empty()
                                      ? absl::StrCat("it answers with code ", status.error_code())
                                      : status.error_message());
  }
  if (response.Length() > kMaxMetricsPageBytes) {
    return absl::ResourceExhaustedError("the answer is too large");
  }
  return ParseRuntimeMetric(name, Bytes(response));
}

void Complain(const std::string& text, MetricsReading& reading) {
  absl::StrAppend(&reading.unavailable, reading.unavailable.empty() ? "" : "; ", text);
}

}  // namespace

struct MetricsReader::Runtime {
  explicit Runtime(const std::string& address)
      : stub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                       transport::RuntimeChannelArguments())) {}

  std::shared_ptr<Call> Ask(const char* name, absl::Time deadline) {
    auto call = std::make_shared<Call>();
    call->context.set_deadline(absl::ToChronoTime(deadline));
    tpu::monitoring::runtime::MetricRequest request;
    request.set_metric_name(name);
    const grpc::Slice slice(request.SerializeAsString());
    call->request = grpc::ByteBuffer(&slice, 1);
    stub.UnaryCall(&call->context, kMethod, grpc::StubOptions(), &call->request, &call->response,
                   [call](grpc::Status status) { call->done.set_value(std::move(status)); });
    return call;
  }

  grpc::GenericStub stub;
};

MetricsReader::MetricsReader(MetricsAddresses addresses) : addresses_(std::move(addresses)) {}

MetricsReader::~MetricsReader() = default;

MetricsReading MetricsReader::Read(absl::Duration deadline) {
  if (runtime_ == nullptr) runtime_ = std::make_unique<Runtime>(addresses_.runtime);
  std::vector<std::shared_ptr<Call>> calls;
  const absl::Time end = absl::Now() + deadline;
  for (const char* name : kMetrics) calls.push_back(runtime_->Ask(name, end));

  MetricsReading reading;
  const std::array<std::pair<const std::string*, MetricSource>, 2> pages = {
      std::pair(&addresses_.device_plugin, MetricSource::kDevicePlugin),
      std::pair(&addresses_.input_pipeline, MetricSource::kInputPipeline)};
  const auto page = [](const std::string& address) {
    return http::Call{.url = absl::StrCat("http://", address, "/metrics")};
  };
  std::vector<http::MaybeReply> replies =
      http::CallAll({page(*pages[0].first), page(*pages[1].first)},
                    {.deadline = deadline, .max_answer_bytes = kMaxMetricsPageBytes});
  for (size_t i = 0; i < pages.size(); ++i) {
    const absl::StatusOr<std::string> text = http::DocumentOf(std::move(replies[i]));
    if (!text.ok()) {
      Complain(absl::StrCat(*pages[i].first, ": ", std::string(text.status().message())), reading);
      continue;
    }
    for (Metric& metric : ParsePrometheus(*text, pages[i].second)) {
      reading.metrics.push_back(std::move(metric));
    }
  }
  bool complained = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    const grpc::Status status = calls[i]->done.get_future().get();
    // A runtime need not know every one of them.
    if (status.error_code() == grpc::StatusCode::NOT_FOUND ||
        status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
      continue;
    }
    absl::StatusOr<std::vector<Metric>> metrics = Parsed(kMetrics[i], status, calls[i]->response);
    if (metrics.ok()) {
      for (Metric& metric : *metrics) reading.metrics.push_back(std::move(metric));
    } else if (!std::exchange(complained, true)) {
      Complain(absl::StrCat("the runtime: ", std::string(metrics.status().message())), reading);
    }
  }
  return reading;
}

namespace {

class MetricsFetcher final : public Fetcher<MetricsReading> {
 public:
  explicit MetricsFetcher(MetricsAddresses addresses) : reader_(std::move(addresses)) {}

  std::optional<MetricsReading> Fetch(const HostLook& look, absl::Duration,
                                      HostFindings&) override {
    if (!look.hang) return std::nullopt;
    return reader_.Read(kMetricsDeadline);
  }

 private:
  MetricsReader reader_;
};

}  // namespace

std::unique_ptr<Fetcher<MetricsReading>> RuntimeMetricsSource::MakeFetcher(
    const HostOptions& options, HostFindings&) {
  return std::make_unique<MetricsFetcher>(MetricsAddresses{
      options.runtime, options.device_plugin_metrics, options.input_pipeline_metrics});
}

}  // namespace rapideye::agent
