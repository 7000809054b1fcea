// AgentIdentity compares what an agent says of its worker and its machine with the names in its
// certificate.
#ifndef RAPIDEYE_COORDINATOR_CORE_AGENT_IDENTITY_H_
#define RAPIDEYE_COORDINATOR_CORE_AGENT_IDENTITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// The operator's rules of which certificate may state what. Without TLS no peer has a name.
struct IdentityRules {
  // The name of a worker's certificate: "rapideye-agent-{slice}-{task}", also with {job}. A
  // certificate must hold one of them as filled in by its agent's Hello. Empty: certificates name
  // no worker, and any agent may speak for any.
  std::vector<std::string> templates = {};
  // Names of agents whose word on their machine counts as beyond the job's reach: patterns with
  // `*` and `?`. Empty: nobody's.
  std::vector<std::string> direct_evidence_from = {};
};

// INVALID_ARGUMENT unless the template names one worker only: it needs {slice} and {task}, has no
// `*` and `?`, and a character other than a digit between any two placeholders.
absl::Status CheckIdentityTemplate(absl::string_view text);

// The name of a certificate that names a machine: MachineName("node", "gke-7") is
// "rapideye://node/gke-7". Kinds: host, node, hardware. What a URI cannot hold is percent-encoded.
std::string MachineName(absl::string_view kind, absl::string_view name);

// PERMISSION_DENIED, with the name that is missing, if the certificate with these names is not of
// the worker that the Hello states; or if it names a machine, and the Hello another one.
absl::Status CheckAgentIdentity(const IdentityRules& rules, const std::vector<std::string>& names,
                                const wire::Hello& hello);

// OK if the agent's word on its machine counts as beyond the job's reach: the rules name its
// certificate, and that names the host, node and hardware that the Hello states, as far as it
// states them. A machine is named by MachineName, or, host and node, by a plain name such as a DNS
// name. PERMISSION_DENIED: the rules do not name it. FAILED_PRECONDITION: they do, but its
// certificate does not name the machine; the message says what is missing.
absl::Status CheckDirectEvidence(const IdentityRules& rules, const std::vector<std::string>& names,
                                 const wire::Hello& hello);

// INVALID_ARGUMENT if the number of an agent's start, microseconds of its host's clock, is more
// than a day ahead of `now`: whoever comes later could never take its place.
absl::Status CheckAgentIncarnation(const wire::Hello& hello, absl::Time now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_AGENT_IDENTITY_H_
