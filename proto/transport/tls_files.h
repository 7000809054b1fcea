// CheckTlsFiles checks certificate, key and CA files before gRPC sees them. gRPC itself starts with
// any of them missing or broken, and refuses every handshake. PeerChecker judges the certificates
// of connections that are there already.
#ifndef RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_
#define RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_

#include <openssl/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::transport {

// INVALID_ARGUMENT, naming flag and file, if the certificate, the key or the CA
// cannot be read as PEM, if the certificate or all of the CA's have expired or are not
// valid yet, or if the key does not belong to the certificate. An encrypted key counts as
// one that cannot be read.
absl::Status CheckTlsFiles(const std::string& cert, const std::string& key, const std::string& ca);

// The time when the certificate of a PEM file ends; of several (a bundle of CAs) the last end,
// since that CA lets peers in until then. INVALID_ARGUMENT as above.
absl::StatusOr<absl::Time> ReadExpiry(const char* flag, const std::string& path);

// The names of the first certificate of a PEM file, as PeerNames has those of a peer: common name
// and subject alternative names. INVALID_ARGUMENT as above.
absl::StatusOr<std::vector<std::string>> ReadNames(const char* flag, const std::string& path);

// Checks certificates against a CA bundle and revocation lists as they are now. Thread-safe.
class PeerChecker {
 public:
  // `crl_dir`: as CredentialOptions::tls_crl_dir. INVALID_ARGUMENT if a file cannot be used.
  static absl::StatusOr<PeerChecker> Load(const std::string& ca, const std::string& crl_dir);
  ~PeerChecker();
  PeerChecker(PeerChecker&& other) noexcept;
  PeerChecker& operator=(PeerChecker&&) = delete;

  // PERMISSION_DENIED, with the reason, if the first certificate of the PEM text is not signed by
  // the bundle (by way of the others), or is revoked. One that has expired meanwhile passes: its
  // successor is let in as it comes, and the stream lives on.
  absl::Status Check(const std::string& chain) const;

 private:
  explicit PeerChecker(X509_STORE* store) : store_(store) {}
  X509_STORE* store_;
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_TLS_FILES_H_
