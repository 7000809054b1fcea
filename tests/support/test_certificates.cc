#include "tests/support/test_certificates.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <stdexcept>

namespace rapideye::transport {
namespace {

constexpr long kDaySeconds = 24 * 60 * 60;

void Check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("making a test certificate failed: ") + what);
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, value.c_str());
  X509_EXTENSION_free(extension);
}

X509* NewCertificate(const std::string& name, EVP_PKEY* key, long serial, long ends_in_seconds) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -30 * kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate), ends_in_seconds);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

template <typename Write>
void WritePem(const std::string& path, Write write) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  Check(file != nullptr, path.c_str());
  const bool written = write(file) == 1;
  Check(std::fclose(file) == 0 && written, path.c_str());
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name, int days)
    : key_(EVP_EC_gen("P-256")), certificate_(NewCertificate(name, key_, 1, days * kDaySeconds)) {
  X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
  AddExtension(certificate_, certificate_, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_, certificate_, NID_key_usage, "critical,keyCertSign,cRLSign");
  Check(X509_sign(certificate_, key_, EVP_sha256()) > 0, "signature of the authority");
}

TestAuthority::~TestAuthority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

void TestAuthority::WriteCa(const std::string& path) const {
  WritePem(path, [this](std::FILE* file) { return PEM_write_X509(file, certificate_); });
}

void TestAuthority::Issue(const std::string& cert_path, const std::string& key_path,
                          const std::string& uri, int days, const std::string& address,
                          const std::vector<std::string>& more_uris) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = NewCertificate("worker", key, next_serial_++, days * kDaySeconds);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  AddExtension(certificate, certificate_, NID_basic_constraints, "CA:FALSE");
  std::string names = "IP:" + address + ",DNS:localhost,URI:" + uri;
  for (const std::string& more : more_uris) names += ",URI:" + more;
  AddExtension(certificate, certificate_, NID_subject_alt_name, names);
  Check(X509_sign(certificate, key_, EVP_sha256()) > 0, "signature");
  WritePem(cert_path, [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
  WritePem(key_path, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_free(certificate);
  EVP_PKEY_free(key);
}

void TestAuthority::Revoke(const std::string& cert_path, const std::string& directory) const {
  std::FILE* file = std::fopen(cert_path.c_str(), "r");
  Check(file != nullptr, cert_path.c_str());
  X509* revoked = PEM_read_X509(file, nullptr, nullptr, nullptr);
  std::fclose(file);
  Check(revoked != nullptr, cert_path.c_str());
  WriteList(revoked, directory);
  X509_free(revoked);
}

void TestAuthority::RevokeNobody(const std::string& directory) const {
  WriteList(nullptr, directory);
}

void TestAuthority::WriteList(const X509* revoked, const std::string& directory) const {
  X509_CRL* list = X509_CRL_new();
  X509_CRL_set_version(list, 1);
  X509_CRL_set_issuer_name(list, X509_get_subject_name(certificate_));
  ASN1_TIME* now = X509_gmtime_adj(nullptr, -60);
  ASN1_TIME* later = X509_gmtime_adj(nullptr, kDaySeconds);
  X509_CRL_set1_lastUpdate(list, now);
  X509_CRL_set1_nextUpdate(list, later);
  if (revoked != nullptr) {
    X509_REVOKED* entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry,
                                  const_cast<ASN1_INTEGER*>(X509_get0_serialNumber(revoked)));
    X509_REVOKED_set_revocationDate(entry, now);
    X509_CRL_add0_revoked(list, entry);
  }
  X509_CRL_sort(list);
  Check(X509_CRL_sign(list, key_, EVP_sha256()) > 0, "signature");
  char name[32];
  std::snprintf(name, sizeof name, "/%08lx.r0",
                X509_NAME_hash(X509_get_subject_name(certificate_)));
  WritePem(directory + name, [list](std::FILE* file) { return PEM_write_X509_CRL(file, list); });
  ASN1_TIME_free(now);
  ASN1_TIME_free(later);
  X509_CRL_free(list);
}

}  // namespace rapideye::transport
