#include "agent/sources/runtime/fetch.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/sources/runtime/limits.h"
#include "proto/common/sync/mutex.h"
#include "proto/transport/channel_options.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

constexpr char kMethod[] = "/tpu.monitoring.runtime.RuntimeMetricService/GetTpuRuntimeStatus";

grpc::ByteBuffer Request(bool with_hlo) {
  tpu::monitoring::runtime::GetTpuRuntimeStatusRequest request;
  if (with_hlo) request.set_include_hlo_info(true);
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

struct RuntimeClient::State {
  explicit State(const std::string& address)
      : stub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                       transport::RuntimeChannelArguments())) {}

  // The answer is taken as bytes: gRPC reports one that does not parse as
  // UNIMPLEMENTED, which would be taken for a runtime that is too old.
  grpc::GenericStub stub;
  Mutex mutex;
  grpc::ClientContext* running ABSL_GUARDED_BY(mutex) = nullptr;
  bool cancelled ABSL_GUARDED_BY(mutex) = false;
};

RuntimeClient::RuntimeClient(const std::string& address)
    : state_(std::make_unique<State>(address)) {}

RuntimeClient::~RuntimeClient() = default;

absl::StatusOr<std::string> RuntimeClient::Fetch(bool with_hlo, absl::Duration deadline) {
  grpc::ClientContext context;
  // gRPC takes deadlines on the system clock and turns them into durations at
  // once, so a clock that is stepped later does no harm.
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  {
    const MutexLock lock(state_->mutex);
    if (state_->cancelled) return absl::CancelledError("the agent is shutting down");
    state_->running = &context;
  }
  const grpc::ByteBuffer request = Request(with_hlo);
  grpc::ByteBuffer response;
  // On this thread: the callback interface would wake others for every poll.
  grpc::CompletionQueue queue;
  grpc::Status status;
  const auto call = state_->stub.PrepareUnaryCall(&context, kMethod, request, &queue);
  call->StartCall();
  call->Finish(&response, &status, /*tag=*/nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  {
    const MutexLock lock(state_->mutex);
    state_->running = nullptr;
  }
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  if (!with_hlo && response.Length() > kMaxStatusBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(response.Length(), " bytes, more than ", kMaxStatusBytes));
  }
  return Bytes(response);
}

void RuntimeClient::Cancel() {
  const MutexLock lock(state_->mutex);
  state_->cancelled = true;
  if (state_->running != nullptr) state_->running->TryCancel();
}

}  // namespace rapideye::agent
