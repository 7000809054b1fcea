// AgentIdentity compares an agent's claims about its worker and its machine with the names in the
// agent's certificate.
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
  // Names of workers' certificates: "rapideye-agent-{slice}-{task}", also with {job}. A certificate
  // must hold one of the names as filled in from its agent's Hello. Empty: certificates name no
  // worker, and any agent may speak for any worker.
  std::vector<std::string> templates = {};
  // Names of agents whose word on their machine counts as beyond the job's reach: patterns with
  // `*` and `?`. Empty: no agent's word does.
  std::vector<std::string> direct_evidence_from = {};
};

// INVALID_ARGUMENT unless the template names one worker only: it needs {slice} and {task}, has no
// `*` and `?`, and a character other than a digit between any two placeholders.
absl::Status CheckIdentityTemplate(absl::string_view text);

// The name by which a certificate names a machine: MachineName("node", "gke-7") is
// "rapideye://node/gke-7". Kinds: host, node, hardware. Other characters are percent-encoded.
std::string MachineName(absl::string_view kind, absl::string_view name);

// PERMISSION_DENIED, with the missing name, if the certificate with these names does not name the
// worker that the Hello states; or if it names a machine, and the Hello states another machine.
absl::Status CheckAgentIdentity(const IdentityRules& rules, const std::vector<std::string>& names,
                                const wire::Hello& hello);

// OK if the agent's word on its machine counts as beyond the job's reach: the rules name its
// certificate, and the certificate names the host, node and hardware, as far as the Hello states
// them. A certificate names a machine by MachineName, or a host or node by a plain name such as a
// DNS name. PERMISSION_DENIED: the rules do not name the certificate. FAILED_PRECONDITION: the
// certificate does not name the machine; the message says what is missing.
absl::Status CheckDirectEvidence(const IdentityRules& rules, const std::vector<std::string>& names,
                                 const wire::Hello& hello);

// INVALID_ARGUMENT if the number of an agent's start, microseconds of its host's clock, is more
// than a day ahead of `now`: a later agent could never take its place.
absl::Status CheckAgentIncarnation(const wire::Hello& hello, absl::Time now);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_AGENT_IDENTITY_H_
