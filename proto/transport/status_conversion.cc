#include "proto/transport/status_conversion.h"

#include <string>

namespace rapideye::transport {
namespace {

bool IsCode(int code) { return code >= GRPC_STATUS_OK && code <= GRPC_STATUS_UNAUTHENTICATED; }

static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) ==
              static_cast<int>(grpc::StatusCode::UNAUTHENTICATED));
static_assert(static_cast<int>(absl::StatusCode::kDataLoss) ==
              static_cast<int>(grpc::StatusCode::DATA_LOSS));

}  // namespace

absl::Status ToAbsl(const grpc::Status& status) {
  const int code = status.error_code();
  if (code == GRPC_STATUS_OK) return absl::OkStatus();
  return {IsCode(code) ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
          status.error_message().substr(0, kMaxStatusTextBytes)};
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const int code = static_cast<int>(status.code());
  return {IsCode(code) ? static_cast<grpc::StatusCode>(code) : grpc::StatusCode::UNKNOWN,
          std::string(status.message().substr(0, kMaxStatusTextBytes))};
}

}  // namespace rapideye::transport
