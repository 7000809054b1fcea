#include "proto/transport/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rapideye::transport {
namespace {

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

absl::Status Broken(const char* flag, const std::string& path, const char* problem) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", path, ": ", problem));
}

// Called for an encrypted key; without it OpenSSL would ask at the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

absl::StatusOr<Owned<X509>> ReadCertificate(const char* flag, const std::string& path) {
  Owned<BIO> file(BIO_new_file(path.c_str(), "r"));
  if (!file) return Broken(flag, path, "cannot be opened");
  Owned<X509> certificate(PEM_read_bio_X509(file.get(), nullptr, NoPassword, nullptr));
  if (!certificate) return Broken(flag, path, "holds no PEM certificate");
  return certificate;
}

absl::StatusOr<Owned<EVP_PKEY>> ReadKey(const char* flag, const std::string& path) {
  Owned<BIO> file(BIO_new_file(path.c_str(), "r"));
  if (!file) return Broken(flag, path, "cannot be opened");
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(file.get(), nullptr, NoPassword, nullptr));
  if (!key) return Broken(flag, path, "holds no PEM private key (or an encrypted one)");
  return key;
}

}  // namespace

absl::Status CheckTlsFiles(const std::string& cert, const std::string& key, const std::string& ca) {
  absl::StatusOr<Owned<X509>> certificate = ReadCertificate("tls-cert", cert);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<Owned<EVP_PKEY>> private_key = ReadKey("tls-key", key);
  if (!private_key.ok()) return private_key.status();
  absl::StatusOr<Owned<X509>> authority = ReadCertificate("tls-ca", ca);
  if (!authority.ok()) return authority.status();
  if (X509_check_private_key(certificate->get(), private_key->get()) != 1) {
    return Broken("tls-key", key, absl::StrCat("does not belong to --tls-cert=", cert).c_str());
  }
  if (X509_cmp_current_time(X509_get0_notAfter(certificate->get())) < 0) {
    return Broken("tls-cert", cert, "has expired");
  }
  return absl::OkStatus();
}

}  // namespace rapideye::transport
