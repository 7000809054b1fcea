#include "proto/transport/credentials.h"

namespace rapideye::transport {

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const CredentialOptions&, const std::string&) {
  return grpc::InsecureServerCredentials();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const CredentialOptions&, const std::string&) {
  return grpc::InsecureChannelCredentials();
}

bool IsLoopback(const std::string&) { return true; }

}  // namespace rapideye::transport
