// Makes the certificates of a job whose daemons use mutual TLS.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_

#include <string>

#include "absl/status/status.h"

namespace rapideye::testbed {

// Who has signed a daemon's certificate: the job's own authority, or another one
// that bears the same name. Both trust the job's own.
enum class Issuer { kOwn, kForeign };

struct TlsFiles {
  std::string cert;
  std::string key;
  std::string ca;
};

// Makes the certificates of both issuers, for `host` and the machine itself, in
// <state_dir>/tls. UNAVAILABLE says what failed.
absl::Status MakeCertificates(const std::string& state_dir, const std::string& host);

// Where they are.
TlsFiles CertificatesOf(const std::string& state_dir, Issuer issuer);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_
