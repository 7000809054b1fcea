// Reads the names in a peer's certificate and compares them with allowed patterns.
#ifndef RAPIDEYE_PROTO_TRANSPORT_IDENTITY_H_
#define RAPIDEYE_PROTO_TRANSPORT_IDENTITY_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/tls_certificate_verifier.h>

#include <memory>
#include <string>
#include <vector>

namespace rapideye::transport {

// The names in the peer's certificate: common name and subject alternative names.
// Empty without TLS. Never what a message says.
std::vector<std::string> PeerNames(const grpc::AuthContext& context);

// The same names in one text, the same for every certificate with these names, and for no other:
// a renewed certificate still has the same identity. A line each, sorted and escaped. Empty without
// TLS.
std::string PeerIdentity(const grpc::AuthContext& context);

// The peer's certificate as PEM, followed by those that it sent with it. Empty without TLS.
std::string PeerChain(const grpc::AuthContext& context);

// True if one of the names fits one of the patterns (--tls-identity): `*` stands
// for any text, `?` for a byte; everything else for itself. A certificate with a name that holds
// a NUL fits none: others would read that name as far as there.
bool MatchesIdentity(const std::vector<std::string>& names,
                     const std::vector<std::string>& patterns);

// "host-3, spiffe://job/agent", for people; bounded.
std::string JoinNames(const std::vector<std::string>& names);

// Ends a client's handshake with a server whose names fit none of the patterns,
// before anything is said to it.
std::shared_ptr<grpc::experimental::CertificateVerifier> MakeIdentityVerifier(
    std::vector<std::string> patterns);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_IDENTITY_H_
