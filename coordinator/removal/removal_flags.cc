#include "coordinator/removal/removal_flags.h"

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/database.h"
#include "coordinator/removal/hooks/hook_process.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::coordinator {
namespace {

absl::Status CheckAtLeast(const char* flag, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", value, " is not at least ", least));
}

absl::Status CheckShare(const char* flag, double share) {
  if (share >= 0 && share <= 1) return absl::OkStatus();  // false for NaN
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", share, " is no share: between 0 (none) and 1 (all)"));
}

absl::Status CheckPositive(const char* flag, absl::Duration value) {
  if (value > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": must be longer than 0s"));
}

absl::Status CheckFleetDb(const std::string& url) {
  if (url.empty()) return absl::OkStatus();
  const absl::Status status = CheckDatabaseUrl(url);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("--fleet-db: ", std::string(status.message())));
}

absl::Status CheckHooks(const std::vector<std::string>& hooks) {
  std::set<std::string> seen;
  for (const std::string& hook : hooks) {
    if (absl::Status status = CheckHook(hook); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--hook: ", std::string(status.message())));
    }
    if (!seen.insert(hook).second) {
      return absl::InvalidArgumentError(absl::StrCat("--hook: ", hook, " is given twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddFleetDbFlag(CLI::App& app, std::string& fleet_db, const std::string& help) {
  program::AddFlag(app, "fleet-db", fleet_db,
                   "history of culprits and removals: sqlite:PATH or postgresql://...; " + help);
}

void AddPolicyFlags(CLI::App& app, Policy& policy) {
  using program::AddFlag;
  AddFlag(app, "removal-repetitions", policy.repetitions,
          "hardware is removed by repetition after more than so many hang events");
  AddFlag(app, "removal-window", policy.window, "hang events older than this count no more");
  AddFlag(app, "stable-names", policy.stable_names,
          "host names are never given to another machine, so that they do where the hardware is "
          "not known");
  AddFlag(app, "removal-hosts-per-hour", policy.max_hosts_an_hour,
          "removals within an hour; one more opens the breaker");
  AddFlag(app, "removal-slices-per-day", policy.max_slices_a_day,
          "slices that removals within a day may cost; one more opens the breaker");
  AddFlag(app, "removal-share-of-job", policy.max_share_of_job,
          "share of a job's hosts that may be away; one is always allowed");
  AddFlag(app, "removal-share-of-fleet", policy.max_share_of_fleet,
          "share of the fleet's hosts that may be away; one is always allowed");
  AddFlag(app, "fleet-hosts", policy.fleet_hosts,
          "hosts of the fleet (else as many as the largest job in the window had)");
  AddFlag(app, "removal-lifetime", policy.decision_lifetime,
          "a removal that has not begun so long after its incident is not carried out");
  AddFlag(app, "removal-allow", policy.allow,
          "only these are ever removed: a host, node or hardware, with * and ?; may be repeated");
  AddFlag(app, "removal-deny", policy.deny,
          "these are never removed: a host, node or hardware, with * and ?; may be repeated");
}

void AddRemovalFlags(CLI::App& app, RemovalFlags& flags) {
  using program::AddFlag;
  AddFlag(app, "removal", flags.removal,
          "what is done about bad hardware; enforce needs --fleet-db and --hook")
      .Among({"off", "dry-run", "enforce"});
  AddFlag(app, "hook", flags.hooks,
          "executable that is run with the digest after each incident; may be repeated, they run "
          "in this order");
  AddFlag(app, "hook-timeout", flags.hook_timeout, "a hook that takes longer is stopped");
  AddPolicyFlags(app, flags.policy);
}

absl::Status CheckPolicy(const Policy& policy) {
  for (const absl::Status& status :
       {CheckAtLeast("--removal-repetitions", policy.repetitions, 1),
        CheckAtLeast("--removal-hosts-per-hour", policy.max_hosts_an_hour, 0),
        CheckAtLeast("--removal-slices-per-day", policy.max_slices_a_day, 0),
        CheckAtLeast("--fleet-hosts", policy.fleet_hosts.value_or(1), 1),
        CheckShare("--removal-share-of-job", policy.max_share_of_job),
        CheckShare("--removal-share-of-fleet", policy.max_share_of_fleet),
        CheckPositive("--removal-window", policy.window),
        CheckPositive("--removal-lifetime", policy.decision_lifetime)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckRemoval(RemovalFlags& flags) {
  const std::optional<RemovalMode> mode = RemovalModeNamed(flags.removal);
  if (!mode.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--removal: ", flags.removal, " is none of off, dry-run, enforce"));
  }
  flags.policy.mode = *mode;
  for (const absl::Status& status :
       {CheckFleetDb(flags.fleet_db), CheckPolicy(flags.policy),
        CheckPositive("--hook-timeout", flags.hook_timeout), CheckHooks(flags.hooks)}) {
    if (!status.ok()) return status;
  }
  if (*mode != RemovalMode::kEnforce) return absl::OkStatus();
  if (flags.fleet_db.empty()) {
    return absl::InvalidArgumentError(
        "--removal=enforce: needs a history that all jobs of the fleet share: give --fleet-db");
  }
  if (flags.hooks.empty()) {
    return absl::InvalidArgumentError(
        "--removal=enforce: needs a --hook that carries removals out; deploy/hooks has some");
  }
  return absl::OkStatus();
}

}  // namespace rapideye::coordinator
