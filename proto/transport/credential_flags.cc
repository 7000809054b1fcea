#include "proto/transport/credential_flags.h"

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::transport {

void AddCredentialFlags(CLI::App& app, const CredentialHelp& help, CredentialOptions& credentials) {
  using program::AddFlag;
  AddFlag(app, "tls-cert", credentials.tls_cert,
          absl::StrCat("PEM file: certificate of ", help.self,
                       "; turns TLS on, together with --tls-key and --tls-ca (all three or none)"));
  AddFlag(app, "tls-key", credentials.tls_key,
          "PEM file: private key of --tls-cert, without passphrase");
  AddFlag(app, "tls-ca", credentials.tls_ca,
          "PEM file: CA that must have signed the certificate of " + help.peers);
  AddFlag(app, "insecure", credentials.insecure, help.insecure);
}

}  // namespace rapideye::transport
