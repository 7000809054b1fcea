// Converts between gRPC's status and absl's: the same codes, two types.
#ifndef RAPIDEYE_PROTO_TRANSPORT_STATUS_CONVERSION_H_
#define RAPIDEYE_PROTO_TRANSPORT_STATUS_CONVERSION_H_

#include <grpcpp/support/status.h>

#include <cstddef>

#include "absl/status/status.h"

namespace rapideye::transport {

// A status travels in HTTP/2 trailers, of which peers take 8 KiB in all: a longer
// text would turn any refusal into RESOURCE_EXHAUSTED.
inline constexpr size_t kMaxStatusTextBytes = 1024;

// Total: a code that is none becomes UNKNOWN, a long text is cut.
absl::Status ToAbsl(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_STATUS_CONVERSION_H_
