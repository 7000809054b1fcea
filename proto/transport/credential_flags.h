// Adds --tls-cert, --tls-key, --tls-ca and --insecure: the same in every program.
#ifndef RAPIDEYE_PROTO_TRANSPORT_CREDENTIAL_FLAGS_H_
#define RAPIDEYE_PROTO_TRANSPORT_CREDENTIAL_FLAGS_H_

#include <string>

#include "proto/transport/credentials.h"

namespace CLI {
class App;
}  // namespace CLI

namespace rapideye::transport {

// `self`: the program, "this agent"; `peers`: the programs whose certificates it checks,
// "the coordinator"; `insecure`: what --insecure allows. `credentials` must outlive
// the parsing.
struct CredentialHelp {
  std::string self;
  std::string peers;
  std::string insecure;
};
void AddCredentialFlags(CLI::App& app, const CredentialHelp& help, CredentialOptions& credentials);

}  // namespace rapideye::transport

#endif  // RAPIDEYE_PROTO_TRANSPORT_CREDENTIAL_FLAGS_H_
