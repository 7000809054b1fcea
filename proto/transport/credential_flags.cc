#include "proto/transport/credential_flags.h"

#include "proto/common/flags/command_line.h"

namespace rapideye::transport {

void AddCredentialFlags(CLI::App& app, const CredentialHelp& help, CredentialOptions& credentials) {
  using program::AddFlag;
  AddFlag(app, "tls-cert", credentials.tls_cert, "certificate of " + help.self + ", a PEM file");
  AddFlag(app, "tls-key", credentials.tls_key, "its private key, a PEM file");
  AddFlag(app, "tls-ca", credentials.tls_ca,
          "who signs the certificates of " + help.peers + ", a PEM file");
  AddFlag(app, "insecure", credentials.insecure, help.insecure);
}

}  // namespace rapideye::transport
