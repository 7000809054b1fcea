#include "coordinator/cli/fleet/confirm.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/reports.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::cli {
namespace {

using coordinator::NamedMachine;

constexpr size_t kMaxKnownIncidents = 10'000;

bool Bears(const NamedMachine& machine, const std::string& name) {
  return name == machine.host || name == machine.machine || name == machine.node ||
         name == machine.hardware;
}

// "h0 (hardware:a), h1 (hardware:b)".
std::string Names(const std::vector<NamedMachine>& machines) {
  std::vector<text::ListItem> items;
  for (const NamedMachine& machine : machines) {
    items.push_back({absl::StrCat(Shown(machine.host), " (", Shown(machine.machine), ")")});
  }
  return text::JoinBounded(items, text::kMaxSentenceBytes);
}

// Precision counts removals: a confirmation of another incident of the machine adds nothing to it.
std::string Hint(const std::string& incident, const std::vector<std::string>& removals) {
  if (removals.empty() || std::find(removals.begin(), removals.end(), incident) != removals.end()) {
    return "";
  }
  return absl::StrCat("  its removal was decided on for incident ", Shown(removals.front()),
                      ": `rapideye fleet precision` counts what is confirmed for that one\n");
}

}  // namespace

ConfirmCommand::ConfirmCommand(CLI::App& fleet)
    : FleetCommand(fleet, "confirm", "Record the result of inspecting a machine") {
  program::AddArgument(app(), "INCIDENT", incident_, "Id of the incident that named the machine")
      .Required();
  program::AddFlag(app(), "repair", repair_,
                   "part that was at fault and replaced: chip (or its board), nic; none: the "
                   "machine was healthy")
      .Among({"chip", "nic", "none"})
      .Required();
  program::AddFlag(app(), "host", host_,
                   "machine that was inspected; needed if the incident names several")
      .WithoutVariable();  // RAPIDEYE_HOST is an agent's own
  author_.AddTo(app());
}

absl::StatusOr<std::string> ConfirmCommand::Machine(Fleet& fleet) const {
  const auto machines = coordinator::MachinesOf(fleet.database(), incident_);
  if (absl::IsNotFound(machines.status())) {
    const auto known = coordinator::KnownIncidents(fleet.database(), kMaxKnownIncidents);
    if (!known.ok()) return known.status();
    return absl::NotFoundError(absl::StrCat("no incident '", Shown(incident_), "' in ",
                                            fleet.database().Name(), Closest(incident_, *known)));
  }
  if (!machines.ok()) return machines.status();
  std::vector<NamedMachine> meant;
  for (const NamedMachine& machine : *machines) {
    if (host_.empty() || Bears(machine, host_)) meant.push_back(machine);
  }
  if (meant.size() == 1) return meant.front().machine;
  if (machines->empty()) {
    return absl::NotFoundError(
        absl::StrCat("incident ", Shown(incident_), " names no machine: nothing to confirm"));
  }
  if (meant.empty()) {
    return absl::NotFoundError(absl::StrCat("incident ", Shown(incident_), " does not name '",
                                            Shown(host_), "'; it names ", Names(*machines)));
  }
  return absl::InvalidArgumentError(absl::StrCat("incident ", Shown(incident_),
                                                 " names several machines: say with --host which "
                                                 "one: ",
                                                 Names(meant)));
}

absl::StatusOr<std::string> ConfirmCommand::Answer(Fleet& fleet) {
  const absl::StatusOr<std::string> who = author_.Name();
  if (!who.ok()) return who.status();
  const absl::StatusOr<std::string> machine = Machine(fleet);
  if (!machine.ok()) return machine.status();
  absl::Status status =
      fleet.history().ConfirmRepair(incident_, *machine, repair_, *who, fleet.now());
  if (!status.ok()) return status;
  const auto removals = coordinator::RemovalsOf(fleet.database(), *machine);
  if (!removals.ok()) return removals.status();
  if (json()) {
    return digest::Dump({{"incident", incident_},
                         {"machine", *machine},
                         {"repair", repair_},
                         {"at", JsonTime(fleet.now())},
                         {"who", *who}},
                        /*pretty=*/false) +
           "\n";
  }
  return absl::StrCat("incident ", Shown(incident_), ", ", Shown(*machine), ": found ", repair_,
                      "; once it is back in the fleet: rapideye fleet forget ", Shown(*machine),
                      "\n", Hint(incident_, *removals));
}

}  // namespace rapideye::cli
