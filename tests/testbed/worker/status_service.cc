#include "tests/testbed/worker/status_service.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <re2/re2.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "tests/testbed/worker/runtime_metrics.h"
#include "v1/runtime_status.grpc.pb.h"

namespace rapideye::testbed {
namespace {

namespace runtime = tpu::monitoring::runtime;

// A tracemark is set where a region of a program begins.
constexpr int64_t kTracemarksPerTag = 16;
// A filter longer than this is no filter.
constexpr size_t kMaxFilterLength = 256;

std::string FingerprintBytes(const Fingerprint& fingerprint) {
  return {fingerprint.begin(), fingerprint.end()};
}

void FillSequencer(const CoreId& id, const CoreState& state, bool include_hlo,
                   tpu_telemetry::SequencerInfo& info) {
  info.set_sequencer_type(id.type == CoreType::kTensorCore
                              ? tpu_telemetry::TPU_SEQUENCER_TYPE_TENSOR_CORE_SEQUENCER
                              : tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_SEQUENCER);
  info.set_sequencer_index(0);
  if (!state.running.has_value()) {
    info.set_pc(0);
    info.set_tag(0);
    return;
  }
  const Program& program = *state.running->program;
  const Operation& operation = program.operations[state.operation];
  info.set_pc(operation.pc + state.within);
  info.set_tag(operation.tag);
  info.set_tracemark(operation.tag * kTracemarksPerTag);
  info.set_run_id(state.running->run_id);
  if (!include_hlo) return;
  info.set_hlo_location(HloLocation(program, operation));
  info.set_hlo_detailed_info(HloDetails(program, operation));
}

void FillCore(const CoreId& id, const CoreState& state, bool include_hlo,
              tpu_telemetry::CurrentCoreStateSummary& summary) {
  FillSequencer(id, state, include_hlo, *summary.add_sequencer_info());
  if (state.running.has_value()) {
    summary.set_program_fingerprint(FingerprintBytes(state.running->program->fingerprint));
    summary.set_launch_id(state.running->launch_id);
  }
  for (const Launch& launch : state.queued) {
    tpu_telemetry::QueuedProgramInfo& queued = *summary.add_queued_program_info();
    queued.set_run_id(launch.run_id);
    queued.set_launch_id(launch.launch_id);
    queued.set_program_fingerprint(FingerprintBytes(launch.program->fingerprint));
  }
  if (!state.error.empty()) summary.set_error_message(state.error);
}

class RuntimeMetrics final : public runtime::RuntimeMetricService::Service {
 public:
  explicit RuntimeMetrics(const Worker& worker) : worker_(worker), started_(absl::Now()) {}

  grpc::Status GetTpuRuntimeStatus(grpc::ServerContext*,
                                   const runtime::GetTpuRuntimeStatusRequest* request,
                                   runtime::GetTpuRuntimeStatusResponse* response) override {
    *response = RuntimeStatus(worker_, request->include_hlo_info());
    return grpc::Status::OK;
  }

  grpc::Status GetRuntimeMetric(grpc::ServerContext*, const runtime::MetricRequest* request,
                                runtime::MetricResponse* response) override {
    absl::StatusOr<runtime::TPUMetric> metric =
        RuntimeMetric(worker_, request->metric_name(), started_);
    if (!metric.ok()) {
      return {grpc::StatusCode::NOT_FOUND, std::string(metric.status().message())};
    }
    *response->mutable_metric() = *std::move(metric);
    return grpc::Status::OK;
  }

  grpc::Status ListSupportedMetrics(grpc::ServerContext*,
                                    const runtime::ListSupportedMetricsRequest* request,
                                    runtime::ListSupportedMetricsResponse* response) override {
    if (request->filter().size() > kMaxFilterLength) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "filter: too long"};
    }
    const RE2 filter(request->filter(), RE2::Quiet);
    if (!filter.ok()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, absl::StrCat("filter: ", filter.error())};
    }
    for (const std::string& name : RuntimeMetricNames()) {
      if (RE2::PartialMatch(name, filter)) response->add_supported_metric()->set_metric_name(name);
    }
    return grpc::Status::OK;
  }

 private:
  const Worker& worker_;
  const absl::Time started_;
};

}  // namespace

runtime::GetTpuRuntimeStatusResponse RuntimeStatus(const Worker& worker, bool include_hlo) {
  const JobShape& shape = worker.options().shape;
  const WorkerId self = worker.options().self;
  const int cores_per_worker = static_cast<int>(worker.cores().size());
  runtime::GetTpuRuntimeStatusResponse response;
  response.set_host_name(HostName(self));
  int global_id = WorkerNumber(shape, self) * cores_per_worker;
  for (const std::unique_ptr<Core>& core : worker.cores()) {
    tpu_telemetry::CurrentCoreStateSummary& summary = (*response.mutable_core_states())[global_id];
    tpu_telemetry::TpuCoreIdentifier& id = *summary.mutable_core_id();
    id.set_global_core_id(global_id++);
    // Chips are numbered through their slice.
    id.set_chip_id(self.task * shape.chips + core->id().chip);
    id.mutable_core_on_chip()->set_type(core->id().type == CoreType::kTensorCore
                                            ? tpu_telemetry::TPU_CORE_TYPE_TENSOR_CORE
                                            : tpu_telemetry::TPU_CORE_TYPE_SPARSE_CORE);
    id.mutable_core_on_chip()->set_index(core->id().index);
    FillCore(core->id(), core->State(), include_hlo, summary);
  }
  return response;
}

absl::StatusOr<std::unique_ptr<StatusServer>> StatusServer::Start(const Worker& worker, int port) {
  std::unique_ptr<StatusServer> server(new StatusServer());
  server->service_ = std::make_unique<RuntimeMetrics>(worker);
  const std::string address = WorkerAddress(worker.options().self);
  const std::string wanted = absl::StrCat(address, ":", port);
  grpc::ServerBuilder builder;
  // Two workers may be given one port otherwise: addresses differ, but a second
  // job on the same machine uses the same addresses.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  port = 0;
  builder.AddListeningPort(wanted, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(server->service_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot serve the runtime status on ", wanted));
  }
  server->address_ = absl::StrCat(address, ":", port);
  return server;
}

StatusServer::~StatusServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

}  // namespace rapideye::testbed
