#include "proto/transport/tls_files.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace rapideye::transport {
namespace {

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509_STORE_CTX* p) const { X509_STORE_CTX_free(p); }
  void operator()(GENERAL_NAMES* p) const { GENERAL_NAMES_free(p); }
  void operator()(STACK_OF(X509) * p) const { sk_X509_pop_free(p, X509_free); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

absl::Status Broken(const char* flag, const std::string& path, const char* problem) {
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", path, ": ", problem));
}

// Called for an encrypted key; without it OpenSSL would ask at the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

std::vector<Owned<X509>> ReadAll(BIO& source) {
  std::vector<Owned<X509>> certificates;
  for (;;) {
    Owned<X509> one(PEM_read_bio_X509(&source, nullptr, NoPassword, nullptr));
    if (!one) break;
    certificates.push_back(std::move(one));
  }
  ERR_clear_error();  // the end of the text is an error to OpenSSL
  return certificates;
}

absl::StatusOr<std::vector<Owned<X509>>> ReadCertificates(const char* flag,
                                                          const std::string& path) {
  Owned<BIO> file(BIO_new_file(path.c_str(), "r"));
  if (!file) return Broken(flag, path, "cannot be opened");
  std::vector<Owned<X509>> certificates = ReadAll(*file);
  if (certificates.empty()) return Broken(flag, path, "holds no PEM certificate");
  return certificates;
}

absl::Time TimeOf(const ASN1_TIME* when) {
  tm broken_down = {};
  if (ASN1_TIME_to_tm(when, &broken_down) != 1) return absl::InfinitePast();
  return absl::FromTM(broken_down, absl::UTCTimeZone());
}

std::string Day(const ASN1_TIME* when) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", TimeOf(when), absl::UTCTimeZone());
}

// OK if one of the certificates is valid now; else the error of the last one.
absl::Status CheckValidity(const char* flag, const std::string& path, const Owned<X509>* first,
                           size_t count) {
  absl::Status problem;
  for (const Owned<X509>* one = first; one != first + count; ++one) {
    const ASN1_TIME* begin = X509_get0_notBefore(one->get());
    const ASN1_TIME* end = X509_get0_notAfter(one->get());
    if (X509_cmp_current_time(begin) > 0) {
      problem =
          Broken(flag, path,
                 absl::StrCat("is not valid before ", Day(begin), "; is this host's clock right?")
                     .c_str());
    } else if (X509_cmp_current_time(end) < 0) {
      problem = Broken(flag, path, absl::StrCat("has expired at ", Day(end)).c_str());
    } else {
      return absl::OkStatus();
    }
  }
  return problem;
}

absl::StatusOr<Owned<EVP_PKEY>> ReadKey(const char* flag, const std::string& path) {
  Owned<BIO> file(BIO_new_file(path.c_str(), "r"));
  if (!file) return Broken(flag, path, "cannot be opened");
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(file.get(), nullptr, NoPassword, nullptr));
  if (!key) return Broken(flag, path, "holds no PEM private key (or an encrypted one)");
  return key;
}

std::string TextOf(const ASN1_STRING& text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text)),
          static_cast<size_t>(ASN1_STRING_length(&text))};
}

// "" of a kind that holds no text.
std::string TextOf(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
    case GEN_EMAIL:
    case GEN_URI:
      return TextOf(*name.d.ia5);
    case GEN_IPADD: {
      const bool v4 = ASN1_STRING_length(name.d.iPAddress) == sizeof(in_addr);
      if (!v4 && ASN1_STRING_length(name.d.iPAddress) != sizeof(in6_addr)) return "";
      char text[INET6_ADDRSTRLEN] = "";
      inet_ntop(v4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name.d.iPAddress), text,
                sizeof(text));
      return text;
    }
    default:
      return "";
  }
}

}  // namespace

absl::Status CheckTlsFiles(const std::string& cert, const std::string& key, const std::string& ca) {
  const auto certificate = ReadCertificates("tls-cert", cert);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<Owned<EVP_PKEY>> private_key = ReadKey("tls-key", key);
  if (!private_key.ok()) return private_key.status();
  const auto authority = ReadCertificates("tls-ca", ca);
  if (!authority.ok()) return authority.status();
  if (X509_check_private_key(certificate->front().get(), private_key->get()) != 1) {
    return Broken("tls-key", key, absl::StrCat("does not belong to --tls-cert=", cert).c_str());
  }
  absl::Status own = CheckValidity("tls-cert", cert, certificate->data(), 1);
  if (!own.ok()) return own;
  return CheckValidity("tls-ca", ca, authority->data(), authority->size());
}

absl::StatusOr<absl::Time> ReadExpiry(const char* flag, const std::string& path) {
  const auto certificates = ReadCertificates(flag, path);
  if (!certificates.ok()) return certificates.status();
  absl::Time end = absl::InfinitePast();
  for (const Owned<X509>& one : *certificates) {
    end = std::max(end, TimeOf(X509_get0_notAfter(one.get())));
  }
  return end;
}

absl::StatusOr<std::vector<std::string>> ReadNames(const char* flag, const std::string& path) {
  const auto certificates = ReadCertificates(flag, path);
  if (!certificates.ok()) return certificates.status();
  const X509* certificate = certificates->front().get();
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
    names.push_back(TextOf(*X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  const Owned<GENERAL_NAMES> alternatives(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, /*crit=*/nullptr, /*idx=*/nullptr)));
  for (int i = 0; alternatives && i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    std::string name = TextOf(*sk_GENERAL_NAME_value(alternatives.get(), i));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<PeerChecker> PeerChecker::Load(const std::string& ca, const std::string& crl_dir) {
  const auto authorities = ReadCertificates("tls-ca", ca);
  if (!authorities.ok()) return authorities.status();
  PeerChecker checker(X509_STORE_new());
  for (const Owned<X509>& one : *authorities) X509_STORE_add_cert(checker.store_, one.get());
  unsigned long flags = X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN;  // NOLINT: OpenSSL's
  if (!crl_dir.empty()) {
    if (X509_STORE_load_path(checker.store_, crl_dir.c_str()) != 1) {
      return Broken("tls-crl-dir", crl_dir, "cannot be read");
    }
    flags |= X509_V_FLAG_CRL_CHECK;
  }
  X509_STORE_set_flags(checker.store_, flags);
  return checker;
}

PeerChecker::~PeerChecker() { X509_STORE_free(store_); }

PeerChecker::PeerChecker(PeerChecker&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)) {}

absl::Status PeerChecker::Check(const std::string& chain) const {
  const Owned<BIO> text(BIO_new_mem_buf(chain.data(), static_cast<int>(chain.size())));
  std::vector<Owned<X509>> certificates = ReadAll(*text);
  if (certificates.empty()) return absl::PermissionDeniedError("its certificate cannot be read");
  const Owned<STACK_OF(X509)> others(sk_X509_new_null());
  for (size_t i = 1; i < certificates.size(); ++i) {
    sk_X509_push(others.get(), certificates[i].release());
  }
  const Owned<X509_STORE_CTX> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store_, certificates.front().get(), others.get());
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (good) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("its certificate is not good any more: ",
                   X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()))));
}

}  // namespace rapideye::transport
