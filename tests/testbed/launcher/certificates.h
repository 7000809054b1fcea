// Makes the certificates of a job whose daemons use mutual TLS.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/v1/evidence.h"

namespace rapideye::testbed {

// Authority that has signed a daemon's certificate: the job's own, or another authority
// that bears the same name. Daemons of both kinds trust the job's own.
enum class Issuer { kOwn, kForeign };

struct TlsFiles {
  std::string cert;
  std::string key;
  std::string ca;
};

// Names of agents' certificates, as --agent-identity-template and as a pattern.
inline constexpr char kAgentTemplate[] = "spiffe://testbed/agent/{slice}/{task}";
inline constexpr char kAgentPattern[] = "spiffe://testbed/agent/*";

// An agent's certificate names its worker, and with these URIs its machine.
struct AgentNames {
  WorkerId worker;
  std::vector<std::string> machine;
};

// Makes the certificates of both issuers, for `host` and the machine itself, and one for each
// agent, in <state_dir>/tls. UNAVAILABLE says what failed.
absl::Status MakeCertificates(const std::string& state_dir, const std::string& host,
                              const std::vector<AgentNames>& agents);

// Paths of the certificates.
TlsFiles CertificatesOf(const std::string& state_dir, Issuer issuer);
TlsFiles CertificatesOf(const std::string& state_dir, WorkerId agent);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_CERTIFICATES_H_
