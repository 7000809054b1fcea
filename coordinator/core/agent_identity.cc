#include "coordinator/core/agent_identity.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "coordinator/core/limits.h"
#include "proto/common/text/pattern.h"

namespace rapideye::coordinator {
namespace {

constexpr absl::string_view kPlaceholders[] = {"{slice}", "{task}", "{job}"};
constexpr size_t kMaxShownName = 200;

bool Holds(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Fill(absl::string_view text, const wire::Hello& hello) {
  return absl::StrReplaceAll(text, {{"{slice}", absl::StrCat(hello.worker.slice)},
                                    {"{task}", absl::StrCat(hello.worker.task)},
                                    {"{job}", hello.job}});
}

std::string Shown(absl::string_view name) {
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kMaxShownName)), "'");
}

struct MachineField {
  absl::string_view kind;
  std::optional<std::string> said;
  bool plain;  // a plain name of the certificate may be it, too
};

std::vector<MachineField> MachineOf(const wire::Hello& hello) {
  return {
      {"host", hello.host, true}, {"node", hello.node, true}, {"hardware", hello.hardware, false}};
}

bool NamesMachine(const std::vector<std::string>& names, const MachineField& field) {
  return Holds(names, MachineName(field.kind, *field.said)) ||
         (field.plain && !field.said->empty() && Holds(names, *field.said));
}

}  // namespace

absl::Status CheckIdentityTemplate(absl::string_view text) {
  if (!absl::StrContains(text, "{slice}") || !absl::StrContains(text, "{task}")) {
    return absl::InvalidArgumentError(
        "must hold {slice} and {task}: else it names several workers");
  }
  if (absl::StrContains(text, '*') || absl::StrContains(text, '?')) {
    return absl::InvalidArgumentError("must not hold * or ?: it is to name one worker only");
  }
  bool separated = true;  // since the last placeholder
  while (!text.empty()) {
    const auto* placeholder =
        std::find_if(std::begin(kPlaceholders), std::end(kPlaceholders),
                     [text](absl::string_view one) { return absl::StartsWith(text, one); });
    if (placeholder == std::end(kPlaceholders)) {
      if (text[0] == '{') {
        return absl::InvalidArgumentError("holds a placeholder other than {slice}, {task}, {job}");
      }
      separated = separated || !absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (!separated) {
      return absl::InvalidArgumentError(
          "needs a character other than a digit between placeholders: else it is several workers'");
    }
    separated = false;
    text.remove_prefix(placeholder->size());
  }
  return absl::OkStatus();
}

std::string MachineName(absl::string_view kind, absl::string_view name) {
  std::string uri = absl::StrCat("rapideye://", kind, "/");
  for (const char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~", c)) {
      uri += c;
    } else {
      absl::StrAppendFormat(&uri, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

absl::Status CheckAgentIdentity(const IdentityRules& rules, const std::vector<std::string>& names,
                                const wire::Hello& hello) {
  const bool named =
      rules.templates.empty() ||
      std::any_of(rules.templates.begin(), rules.templates.end(),
                  [&](const std::string& one) { return Holds(names, Fill(one, hello)); });
  if (!named) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "hello.worker: the agent's certificate does not hold the name %s of slice %d task %d, "
        "which "
        "--agent-identity-template asks for; issue one for this worker",
        Shown(Fill(rules.templates.front(), hello)), hello.worker.slice, hello.worker.task));
  }
  for (const MachineField& field : MachineOf(hello)) {
    const std::string prefix = MachineName(field.kind, "");
    const bool names_one = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return absl::StartsWith(name, prefix);
    });
    if (!names_one || !field.said.has_value() || NamesMachine(names, field)) continue;
    return absl::PermissionDeniedError(
        absl::StrCat("hello.", field.kind, ": ", Shown(*field.said),
                     " is not the machine that the agent's certificate names; issue one for it"));
  }
  return absl::OkStatus();
}

absl::Status CheckDirectEvidence(const IdentityRules& rules, const std::vector<std::string>& names,
                                 const wire::Hello& hello) {
  const auto& patterns = rules.direct_evidence_from;
  const bool trusted = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return text::MatchesPattern(name, pattern);
    });
  });
  if (!trusted) return absl::PermissionDeniedError("--direct-evidence-from does not name it");
  for (const MachineField& field : MachineOf(hello)) {
    if (!field.said.has_value() || NamesMachine(names, field)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("its certificate does not name its ", field.kind, ", as ",
                     Shown(MachineName(field.kind, *field.said)), " would"));
  }
  return absl::OkStatus();
}

absl::Status CheckAgentIncarnation(const wire::Hello& hello, absl::Time now) {
  if (absl::FromUnixMicros(hello.agent_incarnation) <= now + kMaxAgentClockLead) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "hello.agentIncarnation: %d is more than a day ahead of the coordinator's clock; set the "
      "clock of the agent's host",
      hello.agent_incarnation));
}

}  // namespace rapideye::coordinator
