#include "coordinator/cli/fleet/offenders.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/table.h"
#include "coordinator/removal/removal_flags.h"
#include "coordinator/removal/tenant_machines.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

using coordinator::Decision;
using coordinator::LatestDecision;
using coordinator::Offender;

std::string Text(const Offender& offender, const std::optional<LatestDecision>& decided,
                 const std::string& mode, const Decision& now) {
  std::string text = absl::StrCat(
      Shown(offender.host), " (", Shown(offender.machine),
      "): ", Count(offender.incidents, "incident"), ", the last at ", ShownTime(offender.last_seen),
      "\n  causes:  ", ShownSentence(absl::StrJoin(offender.causes, ", ")), "\n");
  if (decided.has_value()) {
    absl::StrAppend(&text, "  decided: ", decided->action, " (", mode, ") at ",
                    ShownTime(decided->at), " for incident ", Shown(decided->incident), ": ",
                    ShownSentence(decided->reason), " [", Shown(decided->rule), "]\n");
  }
  absl::StrAppend(&text, "  now:     ", std::string(ActionName(now.action)), " (", mode,
                  "): ", ShownSentence(now.reason), " [", now.rule, "]\n");
  return text;
}

std::string JsonLine(const Offender& offender, const std::optional<LatestDecision>& decided,
                     const std::string& mode, const Decision& now) {
  nlohmann::ordered_json json = {
      {"host", offender.host},           {"machine", offender.machine},
      {"incidents", offender.incidents}, {"lastSeen", JsonTime(offender.last_seen)},
      {"causes", offender.causes},       {"mode", mode}};
  if (decided.has_value()) {
    json["decided"] = {{"action", decided->action},
                       {"rule", decided->rule},
                       {"reason", decided->reason},
                       {"incident", decided->incident},
                       {"at", JsonTime(decided->at)}};
  }
  json["now"] = {{"action", ActionName(now.action)}, {"rule", now.rule}, {"reason", now.reason}};
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace

OffendersCommand::OffendersCommand(CLI::App& fleet)
    : FleetCommand(fleet, "offenders",
                   "List machines by number of incidents, with the policy's present decision"),
      mode_(RemovalModeName(policy_.mode)) {
  program::AddFlag(app(), "limit", limit_,
                   "number of machines to list, those with the most incidents first; 0: all");
  program::AddFlag(app(), "removal", mode_,
                   "removal mode for which to print the policy's decision; give the remover's")
      .Among({"off", "dry-run", "enforce"});
  coordinator::AddPolicyFlags(app(), policy_);
  coordinator::AddTenantMachinesFlag(app(), tenant_machines_);
}

absl::StatusOr<std::string> OffendersCommand::Describe(Fleet& fleet, const Offender& offender) {
  const auto finding = fleet.history().NewestFinding(offender.machine);
  if (!finding.ok()) return finding.status();
  const auto facts =
      fleet.history().FactsAbout(offender.machine, policy_.mode, FactsSince(policy_, fleet.now()),
                                 finding->recorded_by, fleet.now());
  if (!facts.ok()) return facts.status();
  const Decision now = Decide(*finding, *facts, policy_, fleet.now());
  const auto decided = LatestDecisionAbout(fleet.database(), offender.machine, policy_.mode);
  if (!decided.ok()) return decided.status();
  return json() ? JsonLine(offender, *decided, mode_, now) : Text(offender, *decided, mode_, now);
}

absl::StatusOr<std::string> OffendersCommand::Answer(Fleet& fleet) {
  if (limit_ < 0) return absl::InvalidArgumentError("--limit: must not be negative");
  if (absl::Status status = coordinator::CheckPolicy(policy_); !status.ok()) return status;
  if (!tenant_machines_.empty()) {
    auto machines = coordinator::ReadTenantMachines(tenant_machines_);
    if (!machines.ok()) return absl::InvalidArgumentError(machines.status().message());
    policy_.tenant_machines = *std::move(machines);
  }
  policy_.mode = coordinator::RemovalModeNamed(mode_).value_or(policy_.mode);
  const auto offenders = coordinator::Offenders(
      fleet.database(), fleet.now() - policy_.window, fleet.now(),
      limit_ == 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(limit_));
  if (!offenders.ok()) return offenders.status();
  std::string answer;
  for (const Offender& offender : *offenders) {
    const absl::StatusOr<std::string> one = Describe(fleet, offender);
    if (!one.ok()) return one.status();
    answer += *one;
  }
  if (answer.empty() && !json()) {
    return absl::StrCat("no machine was named by an incident in the last ",
                        absl::FormatDuration(policy_.window), "\n");
  }
  return answer;
}

}  // namespace rapideye::cli
