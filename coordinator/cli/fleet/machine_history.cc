#include "coordinator/cli/fleet/machine_history.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/reports.h"
#include "digest/report_json.h"

namespace rapideye::cli {
namespace {

using coordinator::Happening;

// Adds the output of a hook below its event: line by line, so that no line can pose as ours.
void AppendOutput(const Happening& happening, std::string& text) {
  for (const auto& [name, value] : happening.details) {
    if (name != "output" || value.empty()) continue;
    for (const absl::string_view line : absl::StrSplit(value, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&text, "    | ", ShownSentence(std::string(line)), "\n");
    }
  }
}

std::string Text(const std::string& machine, const std::string& host,
                 const std::vector<Happening>& happenings) {
  std::string text = absl::StrCat(Shown(host), " (", Shown(machine), ")\n");
  for (const Happening& happening : happenings) {
    absl::StrAppendFormat(&text, "  %s  %-9s  %s%s%s\n", ShownTime(happening.at), happening.kind,
                          Shown(happening.incident), happening.incident.empty() ? "" : "  ",
                          ShownSentence(happening.text));
    AppendOutput(happening, text);
  }
  return text;
}

std::string JsonLine(const std::string& machine, const Happening& happening) {
  nlohmann::ordered_json json = {
      {"machine", machine}, {"at", JsonTime(happening.at)}, {"kind", happening.kind}};
  if (!happening.incident.empty()) json["incident"] = happening.incident;
  json["text"] = happening.text;
  for (const auto& [name, value] : happening.details) json[name] = value;
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace

HistoryCommand::HistoryCommand(CLI::App& fleet)
    : FleetCommand(fleet, "history",
                   "Print the incidents of a machine, and why it was or was not removed") {
  program::AddArgument(
      app(), "HOST", host_,
      "Host, node or hardware id of the machine, as 'rapideye fleet offenders' lists it")
      .Required();
}

absl::StatusOr<std::string> HistoryCommand::Answer(Fleet& fleet) {
  const auto machines = fleet.MachinesNamed(host_);
  if (!machines.ok()) return machines.status();
  std::string answer;
  for (const std::string& machine : *machines) {
    const auto host = coordinator::HostOf(fleet.database(), machine);
    if (!host.ok()) return host.status();
    const auto happenings = coordinator::HistoryOf(fleet.database(), machine);
    if (!happenings.ok()) return happenings.status();
    if (!json()) answer += Text(machine, *host, *happenings);
    for (const Happening& happening : *happenings) {
      if (json()) answer += JsonLine(machine, happening);
    }
  }
  return answer;
}

}  // namespace rapideye::cli
