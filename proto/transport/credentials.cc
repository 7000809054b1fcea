#include "proto/transport/credentials.h"

#include <arpa/inet.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/transport/identity.h"
#include "proto/transport/tls_files.h"

namespace rapideye::transport {
namespace {

// Interval of checks whether the files were rotated.
constexpr unsigned kRefreshSeconds = 60;

using grpc::experimental::CertificateProviderInterface;
using grpc::experimental::FileWatcherCertificateProvider;

// A provider starts a thread, so those for the same files are shared.
std::shared_ptr<CertificateProviderInterface> Provider(const CredentialOptions& options) {
  static auto* mutex = new std::mutex;
  static auto* providers = new std::map<std::tuple<std::string, std::string, std::string>,
                                        std::weak_ptr<CertificateProviderInterface>>;
  std::lock_guard lock(*mutex);
  auto& known = (*providers)[{options.tls_cert, options.tls_key, options.tls_ca}];
  std::shared_ptr<CertificateProviderInterface> provider = known.lock();
  if (!provider) {
    provider = std::make_shared<FileWatcherCertificateProvider>(options.tls_key, options.tls_cert,
                                                                options.tls_ca, kRefreshSeconds);
    known = provider;
  }
  return provider;
}

// The host of "HOST:PORT" or "[HOST]:PORT"; nullopt for anything else, such as a
// list, a URI or an address without a port.
std::optional<std::string> HostOf(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::string_view port = address.substr(colon + 1);
  if (port.empty() || port.find_first_not_of("0123456789") != absl::string_view::npos) {
    return std::nullopt;
  }
  absl::string_view host = address.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  if (!bracketed && absl::StrContains(host, ":")) return std::nullopt;
  return std::string(host);
}

// True for TLS, false for plaintext.
absl::StatusOr<bool> WantsTls(const CredentialOptions& options, const std::string& address) {
  const int given = !options.tls_cert.empty() + !options.tls_key.empty() + !options.tls_ca.empty();
  if (given == 3) {
    absl::Status files = CheckTlsFiles(options.tls_cert, options.tls_key, options.tls_ca);
    if (!files.ok()) return files;
    return true;
  }
  if (!options.identities.empty()) {
    return absl::InvalidArgumentError(
        "--tls-identity: nobody has a certificate without --tls-cert, --tls-key and --tls-ca");
  }
  if (given != 0) {
    std::vector<std::string> missing;
    if (options.tls_cert.empty()) missing.emplace_back("--tls-cert");
    if (options.tls_key.empty()) missing.emplace_back("--tls-key");
    if (options.tls_ca.empty()) missing.emplace_back("--tls-ca");
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-cert, --tls-key and --tls-ca belong together: ", absl::StrJoin(missing, " and "),
        missing.size() == 1 ? " is" : " are", " missing"));
  }
  if (!options.insecure && !IsLoopback(address)) {
    // To a name without a port TLS would be the wrong advice. A URI or a list has none either.
    if (!HostOf(address).has_value() && !absl::StrContains(address, "/") &&
        !absl::StrContains(address, ",")) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", address, "' is not HOST:PORT, such as localhost:8490 or [::1]:8490"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("'", address,
                     "' is not a loopback address, so it needs TLS: give --tls-cert, --tls-key "
                     "and --tls-ca, or --insecure to speak plaintext"));
  }
  return false;
}

}  // namespace

bool IsLoopback(const std::string& address) {
  const std::optional<std::string> host = HostOf(address);
  if (!host) return false;
  if (absl::EqualsIgnoreCase(*host, "localhost")) return true;
  in_addr v4 = {};
  constexpr uint32_t kLoopbackNet = 127;
  if (inet_pton(AF_INET, host->c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == kLoopbackNet;
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, host->c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == kLoopbackNet);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const CredentialOptions& options, const std::string& address) {
  const absl::StatusOr<bool> tls = WantsTls(options, address);
  if (!tls.ok()) return tls.status();
  if (!*tls) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions settings(Provider(options));
  settings.watch_root_certs();
  settings.watch_identity_key_cert_pairs();
  if (!options.tls_crl_dir.empty()) settings.set_crl_directory(options.tls_crl_dir);
  settings.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(settings);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(
    const CredentialOptions& options, const std::string& address) {
  const absl::StatusOr<bool> tls = WantsTls(options, address);
  if (!tls.ok()) return tls.status();
  if (!*tls) return grpc::InsecureChannelCredentials();
  grpc::experimental::TlsChannelCredentialsOptions settings;
  settings.set_certificate_provider(Provider(options));
  settings.watch_root_certs();
  settings.watch_identity_key_cert_pairs();
  if (!options.identities.empty()) {
    settings.set_certificate_verifier(MakeIdentityVerifier(options.identities));
    settings.set_check_call_host(false);
  }
  return grpc::experimental::TlsCredentials(settings);
}

}  // namespace rapideye::transport
