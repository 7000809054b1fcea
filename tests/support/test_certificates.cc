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

TestAuthority::TestAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256")), certificate_(NewCertificate(name, key_, 1, kDaySeconds)) {
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
                          const std::string& uri, int days, const std::string& address) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = NewCertificate("worker", key, next_serial_++, days * kDaySeconds);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  AddExtension(certificate, certificate_, NID_basic_constraints, "CA:FALSE");
  AddExtension(certificate, certificate_, NID_subject_alt_name,
               "IP:" + address + ",DNS:localhost,URI:" + uri);
  Check(X509_sign(certificate, key_, EVP_sha256()) > 0, "signature");
  WritePem(cert_path, [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
  WritePem(key_path, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_free(certificate);
  EVP_PKEY_free(key);
}

}  // namespace rapideye::transport
