// Makes gRPC credentials from files and flags: mutual TLS, or plaintext on this host.
#ifndef RAPIDEYE_PROTO_TRANSPORT_CREDENTIALS_H_
#define RAPIDEYE_PROTO_TRANSPORT_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rapideye::transport {

// Mutual TLS when the three files are given; otherwise plaintext, which is
// refused for any address but loopback unless `insecure` is set.
struct CredentialOptions {
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  // Folder of certificate revocation lists, as OpenSSL names them (openssl rehash): with it, a peer
  // whose issuer has no valid list there is refused, too. "": none.
  std::string tls_crl_dir = {};
  bool insecure = false;
  // Names that the peer's certificate must hold, as patterns; empty: any certificate
  // that the CA has signed. A client checks them here, in place of the server's address,
  // which changes when a coordinator moves; a server checks them per call (identity.h),
  // so that a refused client learns why.
  std::vector<std::string> identities = {};
};

// INVALID_ARGUMENT when only some of the files are given, when one cannot be
// read or the key does not match the certificate (gRPC itself would start all
// the same), or when `address` is not loopback and neither TLS nor `insecure`
// is given, or when `identities` are given without TLS. The message says which flag to set.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const CredentialOptions& options, const std::string& address);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const CredentialOptions& options, const std::string& address);

// True if every address that "HOST:PORT" may name is a loopback one, judged by
// its text alone (127.0.0.0/8, [::1], localhost): no name is resolved.
bool IsLoopback(const std::string& address);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_CREDENTIALS_H_
