#include "coordinator/removal/removal_flags.h"

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/database.h"
#include "coordinator/removal/hooks/hook_process.h"
#include "coordinator/removal/tenant_machines.h"
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

}  // namespace

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

void AddFleetDbFlag(CLI::App& app, std::string& fleet_db, const std::string& help) {
  program::AddFlag(
      app, "fleet-db", fleet_db,
      "database of the fleet's incidents and removals: sqlite:PATH or postgresql://... " + help);
}

void AddPolicyFlags(CLI::App& app, Policy& policy) {
  using program::AddFlag;
  AddFlag(app, "removal-repetitions", policy.repetitions,
          "removes a machine that caused more than this many hangs within --removal-window (3: at "
          "the fourth)");
  AddFlag(app, "removal-window", policy.window,
          "period of which --removal-repetitions counts the hangs; older ones do not count");
  AddFlag(app, "stable-names", policy.stable_names,
          "declares that a host name is never given to another machine: a machine whose hardware "
          "is unknown can then be removed by its name (else never)");
  AddFlag(app, "removal-hosts-per-hour", policy.max_hosts_an_hour,
          "most hosts that are removed in an hour; one more opens the breaker: all removals stop "
          "until 'rapideye fleet breaker close'");
  AddFlag(app, "removal-slices-per-day", policy.max_slices_a_day,
          "most slices that removals disturb in a day; one more opens the breaker: all removals "
          "stop until 'rapideye fleet breaker close'");
  AddFlag(app, "removal-share-of-job", policy.max_share_of_job,
          "most hosts of a job that are removed, as a share (0 to 1) of its hosts; one is always "
          "allowed; one more opens the breaker");
  AddFlag(app, "removal-share-of-fleet", policy.max_share_of_fleet,
          "most hosts of the fleet that are removed, as a share (0 to 1) of --fleet-hosts; one is "
          "always allowed; one more opens the breaker");
  AddFlag(app, "fleet-hosts", policy.fleet_hosts,
          "number of hosts in the fleet, for --removal-share-of-fleet (else that of the largest "
          "job within --removal-window)");
  AddFlag(app, "removal-lifetime", policy.decision_lifetime,
          "drops a removal that has not started this long after its incident, when the machine may "
          "have been repaired");
  AddFlag(app, "fleet-retention", policy.retention,
          "deletes incidents and removals older than this from the fleet history; must be longer "
          "than --removal-window");
  AddFlag(app, "removal-allow", policy.allow,
          "host, node or hardware that may be removed, or a pattern with * and ?; no other is "
          "removed; may be repeated (else any may be removed)");
  AddFlag(app, "removal-deny", policy.deny,
          "host, node or hardware that is never removed, or a pattern with * and ?; wins over "
          "--removal-allow; may be repeated");
}

void AddTenantMachinesFlag(CLI::App& app, std::string& path) {
  program::AddFlag(
      app, "tenant-machines", path,
      "file that says whose machines are whose, if tenants share the fleet history; a line each: a "
      "database role, then names of its hosts, nodes or hardware with * and ? (else what a role "
      "that does not own the history records removes no machine)");
}

void AddRemovalFlags(CLI::App& app, RemovalFlags& flags) {
  using program::AddFlag;
  AddFlag(app, "removal", flags.removal,
          "off: no removal of bad hardware is decided; dry-run: decisions are recorded, no machine "
          "is touched; enforce: --hook carries them out, needs --fleet-db, --fleet-hosts and "
          "--hook")
      .Among({"off", "dry-run", "enforce"});
  AddFlag(app, "hook", flags.hooks,
          "executable that gets the digest of each incident and carries removals out "
          "(deploy/hooks/README.md); may be repeated: hooks run in the order given");
  AddFlag(app, "hook-timeout", flags.hook_timeout, "stops a hook that runs longer than this");
  AddPolicyFlags(app, flags.policy);
  AddTenantMachinesFlag(app, flags.tenant_machines);
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
  if (policy.retention <= policy.window) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fleet-retention: ", absl::FormatDuration(policy.retention),
                     " is not longer than --removal-window"));
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
  if (!flags.tenant_machines.empty()) {
    auto machines = ReadTenantMachines(flags.tenant_machines);
    if (!machines.ok()) return machines.status();
    flags.policy.tenant_machines = *std::move(machines);
  }
  if (*mode != RemovalMode::kEnforce) return absl::OkStatus();
  if (flags.fleet_db.empty()) {
    return absl::InvalidArgumentError(
        "--removal=enforce: needs a history that all jobs of the fleet share: give --fleet-db");
  }
  if (!flags.policy.fleet_hosts.has_value()) {
    return absl::InvalidArgumentError(
        "--removal=enforce: needs the number of the fleet's hosts, of which a budget is a share: "
        "give "
        "--fleet-hosts; what jobs say of it is not believed");
  }
  if (flags.hooks.empty()) {
    return absl::InvalidArgumentError(
        "--removal=enforce: needs a --hook that carries removals out; deploy/hooks has some");
  }
  return absl::OkStatus();
}

}  // namespace rapideye::coordinator
