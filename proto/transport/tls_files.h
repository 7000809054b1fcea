// CheckTlsFiles checks certificate, key and CA files before gRPC sees them. gRPC itself starts with
// any of them missing or broken, and refuses every handshake.
#ifndef RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_
#define RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"

namespace rapideye::transport {

// INVALID_ARGUMENT, naming flag and file, if the certificate, the key or the CA
// cannot be read as PEM, if the certificate has expired, or if the key does not
// belong to it. An encrypted key counts as one that cannot be read.
absl::Status CheckTlsFiles(const std::string& cert, const std::string& key, const std::string& ca);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_
