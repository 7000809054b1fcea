#include "tests/testbed/launcher/certificates.h"

#include <exception>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/support/test_certificates.h"

namespace rapideye::testbed {
namespace {

constexpr char kAuthority[] = "testbed";
constexpr char kIdentity[] = "spiffe://testbed/daemon";

void Make(const std::string& state_dir, const std::string& host, Issuer issuer,
          const std::vector<AgentNames>& agents) {
  transport::TestAuthority authority(kAuthority);
  const TlsFiles files = CertificatesOf(state_dir, issuer);
  if (issuer == Issuer::kOwn) authority.WriteCa(files.ca);
  authority.Issue(files.cert, files.key, kIdentity, /*days=*/1, host);
  for (const AgentNames& agent : agents) {
    const TlsFiles own = CertificatesOf(state_dir, agent.worker);
    const std::string name =
        absl::StrReplaceAll(kAgentTemplate, {{"{slice}", absl::StrCat(agent.worker.slice)},
                                             {"{task}", absl::StrCat(agent.worker.task)}});
    authority.Issue(own.cert, own.key, name, /*days=*/1, host, agent.machine);
  }
}

}  // namespace

TlsFiles CertificatesOf(const std::string& state_dir, Issuer issuer) {
  const std::string directory = absl::StrCat(state_dir, "/tls/");
  const std::string name = issuer == Issuer::kOwn ? "own" : "foreign";
  return {.cert = absl::StrCat(directory, name, ".crt"),
          .key = absl::StrCat(directory, name, ".key"),
          .ca = absl::StrCat(directory, "ca.crt")};
}

TlsFiles CertificatesOf(const std::string& state_dir, WorkerId agent) {
  TlsFiles files = CertificatesOf(state_dir, Issuer::kOwn);
  const std::string stem = absl::StrCat(state_dir, "/tls/agent-", agent.slice, "-", agent.task);
  files.cert = stem + ".crt";
  files.key = stem + ".key";
  return files;
}

absl::Status MakeCertificates(const std::string& state_dir, const std::string& host,
                              const std::vector<AgentNames>& agents) {
  try {
    std::filesystem::create_directories(absl::StrCat(state_dir, "/tls"));
    Make(state_dir, host, Issuer::kOwn, agents);
    Make(state_dir, host, Issuer::kForeign, {});
  } catch (const std::exception& error) {
    return absl::UnavailableError(error.what());
  }
  return absl::OkStatus();
}

}  // namespace rapideye::testbed
