#include "tests/testbed/launcher/certificates.h"

#include <exception>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/support/test_certificates.h"

namespace rapideye::testbed {
namespace {

constexpr char kAuthority[] = "testbed";
constexpr char kIdentity[] = "spiffe://testbed/daemon";

void Make(const std::string& state_dir, const std::string& host, Issuer issuer) {
  transport::TestAuthority authority(kAuthority);
  const TlsFiles files = CertificatesOf(state_dir, issuer);
  if (issuer == Issuer::kOwn) authority.WriteCa(files.ca);
  authority.Issue(files.cert, files.key, kIdentity, /*days=*/1, host);
}

}  // namespace

TlsFiles CertificatesOf(const std::string& state_dir, Issuer issuer) {
  const std::string directory = absl::StrCat(state_dir, "/tls/");
  const std::string name = issuer == Issuer::kOwn ? "own" : "foreign";
  return {.cert = absl::StrCat(directory, name, ".crt"),
          .key = absl::StrCat(directory, name, ".key"),
          .ca = absl::StrCat(directory, "ca.crt")};
}

absl::Status MakeCertificates(const std::string& state_dir, const std::string& host) {
  try {
    std::filesystem::create_directories(absl::StrCat(state_dir, "/tls"));
    Make(state_dir, host, Issuer::kOwn);
    Make(state_dir, host, Issuer::kForeign);
  } catch (const std::exception& error) {
    return absl::UnavailableError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
