#include "coordinator/cli/fleet/forget.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/reports.h"
#include "digest/report_json.h"

namespace rapideye::cli {

ForgetCommand::ForgetCommand(CLI::App& fleet)
    : FleetCommand(fleet, "forget",
                   "Record a repair: earlier incidents of the machine no longer count") {
  program::AddArgument(
      app(), "HOST", host_,
      "Host, node or hardware id of the machine, as 'rapideye fleet offenders' lists it")
      .Required();
  author_.AddTo(app());
}

absl::StatusOr<std::string> ForgetCommand::Answer(Fleet& fleet) {
  const absl::StatusOr<std::string> who = author_.Name();
  if (!who.ok()) return who.status();
  const absl::StatusOr<std::string> machine = fleet.MachineNamed(host_);
  if (!machine.ok()) return machine.status();
  const absl::StatusOr<std::string> host = coordinator::HostOf(fleet.database(), *machine);
  if (!host.ok()) return host.status();
  if (absl::Status status = fleet.history().Forget(*machine, *who, fleet.now()); !status.ok()) {
    return status;
  }
  if (json()) {
    return digest::Dump({{"machine", *machine},
                         {"host", *host},
                         {"forgotten", JsonTime(fleet.now())},
                         {"who", *who}},
                        /*pretty=*/false) +
           "\n";
  }
  return absl::StrCat(Shown(*host), " (", Shown(*machine), "): what was before ",
                      ShownTime(fleet.now()), " no longer counts against it\n");
}

}  // namespace rapideye::cli
