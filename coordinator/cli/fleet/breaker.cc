#include "coordinator/cli/fleet/breaker.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/reports.h"
#include "coordinator/fleet/schema.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

using coordinator::Breaker;
using coordinator::RemovalMode;

std::string Text(const std::string& mode, const Breaker& breaker, int64_t waiting) {
  if (breaker.open) {
    return absl::StrCat(
        mode, ": open since ", ShownTime(breaker.since),
        ", no removals: ", ShownSentence(breaker.reason), "\n", mode, ": ", Count(waiting, "hook"),
        " waiting; rapideye fleet breaker close --removal=", mode, " lets removals go on\n");
  }
  return absl::StrCat(mode, ": closed",
                      breaker.who.empty() ? ""
                                          : absl::StrCat(" by ", Shown(breaker.who), " at ",
                                                         ShownTime(breaker.since)),
                      "; removals go on as far as policy and budget allow\n");
}

// Text about the open breakers of several roles, of which only the first states its reason.
std::string OfRoles(const std::string& mode, const Breaker& first,
                    const std::vector<std::string>& roles) {
  return absl::StrCat(mode, ": open for what ", ShownSentence(absl::StrJoin(roles, ", ")),
                      " recorded, since ", ShownTime(first.since), ": ",
                      ShownSentence(first.reason), "\n");
}

std::string JsonLine(const std::string& mode, const Breaker& breaker, int64_t waiting,
                     const std::vector<std::string>& roles) {
  nlohmann::ordered_json json = {{"mode", mode}, {"open", breaker.open}};
  if (breaker.open || !breaker.who.empty()) {
    json["since"] = JsonTime(breaker.since);
    json["reason"] = breaker.reason;
    json["who"] = breaker.who;
  }
  json["hooksWaiting"] = waiting;
  if (!roles.empty()) json["stoppedRoles"] = roles;
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace

BreakerCommand::BreakerCommand(CLI::App& fleet)
    : FleetCommand(
          fleet, "breaker",
          "Print whether the breaker has stopped removals, and why; close lets them go on") {
  program::AddArgument(app(), "ACTION", action_,
                       "close: lets removals go on, needs --removal (else only prints the state)")
      .Among({"close"});
  program::AddFlag(
      app(), "removal", mode_,
      "removal mode whose breaker to print or close (else those of both modes are printed)")
      .Among({"dry-run", "enforce"});
  author_.AddTo(app());
}

absl::StatusOr<std::string> BreakerCommand::Show(Fleet& fleet, RemovalMode mode) {
  const absl::StatusOr<Breaker> breaker = fleet.history().BreakerOf(mode);
  if (!breaker.ok()) return breaker.status();
  int64_t waiting = 0;
  if (mode == RemovalMode::kEnforce) {  // a dry run has no hooks
    const absl::StatusOr<int64_t> hooks = coordinator::HooksWaiting(fleet.database());
    if (!hooks.ok()) return hooks.status();
    waiting = *hooks;
  }
  const absl::StatusOr<std::vector<std::string>> roles = fleet.history().StoppedRoles(mode);
  if (!roles.ok()) return roles.status();
  const std::string name(RemovalModeName(mode));
  if (!breaker->open && !roles->empty()) {
    const absl::StatusOr<Breaker> first = fleet.history().BreakerOf(mode, roles->front());
    if (!first.ok()) return first.status();
    return json() ? JsonLine(name, *breaker, waiting, *roles)
                  : Text(name, *breaker, waiting) + OfRoles(name, *first, *roles);
  }
  return json() ? JsonLine(name, *breaker, waiting, *roles) : Text(name, *breaker, waiting);
}

// A breaker that is closed already stays as it was, with the name of the operator who closed it.
absl::Status BreakerCommand::Close(Fleet& fleet, RemovalMode mode) {
  const absl::StatusOr<std::string> who = author_.Name();
  if (!who.ok()) return who.status();
  return coordinator::WithLock(fleet.database(), [&]() -> absl::Status {
    const absl::StatusOr<Breaker> breaker = fleet.history().BreakerOf(mode);
    if (!breaker.ok()) return breaker.status();
    const auto roles = fleet.history().StoppedRoles(mode);
    if (!roles.ok()) return roles.status();
    for (const std::string& role : *roles) {
      const auto one = fleet.history().BreakerOf(mode, role);
      if (!one.ok()) return one.status();
      absl::Status closed =
          fleet.history().SetBreaker(mode, false, one->reason, *who, fleet.now(), role);
      if (!closed.ok()) return closed;
    }
    if (!breaker->open) return absl::OkStatus();
    return fleet.history().SetBreaker(mode, false, breaker->reason, *who, fleet.now());
  });
}

absl::StatusOr<std::string> BreakerCommand::Answer(Fleet& fleet) {
  const bool close = !action_.empty();
  if (close && mode_.empty()) {
    return absl::InvalidArgumentError(
        "close: of which removals? Give --removal=enforce or --removal=dry-run");
  }
  std::string answer;
  for (const RemovalMode mode : {RemovalMode::kEnforce, RemovalMode::kDryRun}) {
    if (!mode_.empty() && mode_ != RemovalModeName(mode)) continue;
    if (close) {
      if (absl::Status status = Close(fleet, mode); !status.ok()) return status;
    }
    const absl::StatusOr<std::string> one = Show(fleet, mode);
    if (!one.ok()) return one.status();
    answer += *one;
  }
  return answer;
}

}  // namespace rapideye::cli
