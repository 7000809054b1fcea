// For tests: TestAuthority makes certificates on the spot.
#ifndef RAPIDEYE_TESTS_SUPPORT_TEST_CERTIFICATES_H_
#define RAPIDEYE_TESTS_SUPPORT_TEST_CERTIFICATES_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace rapideye::transport {

// An authority that signs certificates and writes them as PEM files.
class TestAuthority {
 public:
  // `days`: as of Issue.
  explicit TestAuthority(const std::string& name, int days = 1);
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  // Writes the authority's own certificate.
  void WriteCa(const std::string& path) const;
  // Writes a certificate for `address`, localhost and `uri` that ends `days` from
  // now (negative: has ended), and its key.
  void Issue(const std::string& cert_path, const std::string& key_path, const std::string& uri,
             int days = 1, const std::string& address = "127.0.0.1",
             const std::vector<std::string>& more_uris = {});
  // Writes a list of revoked certificates that holds the one of that file, as OpenSSL looks for it
  // in `directory`.
  void Revoke(const std::string& cert_path, const std::string& directory) const;
  // Writes a list that revokes no certificate.
  void RevokeNobody(const std::string& directory) const;

 private:
  void WriteList(const X509* revoked, const std::string& directory) const;

  EVP_PKEY* key_;
  X509* certificate_;
  long next_serial_ = 2;
};

}  // namespace rapideye::transport

#endif  // RAPIDEYE_TESTS_SUPPORT_TEST_CERTIFICATES_H_
