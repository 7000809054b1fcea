#include "coordinator/cli/incidents.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/table.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

using Json = nlohmann::ordered_json;

// The coordinator may have to read many digests from a slow disk.
constexpr absl::Duration kListTimeout = absl::Seconds(30);

std::string CauseOf(const v1::IncidentSummary& incident) {
  if (!incident.problem().empty()) return absl::StrCat("broken: ", incident.problem());
  return absl::StrCat(
      incident.cause(), incident.detail().empty() ? "" : " ", incident.detail(),
      incident.revision() > 1 ? absl::StrCat(" (revision ", incident.revision(), ")") : "");
}

std::string CulpritsOf(const v1::IncidentSummary& incident) {
  if (incident.culprits().empty()) return "-";
  const int more = incident.culprit_hosts() - incident.culprits_size();
  return absl::StrCat(absl::StrJoin(incident.culprits(), ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::string Text(const v1::ListIncidentsReply& reply) {
  if (reply.incidents().empty()) return "no incidents\n";
  Table table({"ID", "DETECTED", "JOB", "CONFIDENCE", "CAUSE", "CULPRITS"});
  for (const v1::IncidentSummary& incident : reply.incidents()) {
    table.Add({incident.id(), incident.detected_at(), incident.job().empty() ? "-" : incident.job(),
               incident.has_confidence() ? absl::StrFormat("%.2f", incident.confidence()) : "-",
               CauseOf(incident), CulpritsOf(incident)});
  }
  return table.Text("");
}

std::string JsonLine(const v1::IncidentSummary& incident) {
  Json json = {{"incidentId", incident.id()}, {"detectedAt", incident.detected_at()}};
  if (!incident.problem().empty()) {
    json["problem"] = incident.problem();
  } else {
    json["job"] = incident.job();
    json["cause"] = incident.cause();
    if (!incident.detail().empty()) json["detail"] = incident.detail();
    if (incident.revision() > 1) json["revision"] = incident.revision();
    if (incident.has_confidence()) json["confidence"] = incident.confidence();
    json["headline"] = incident.headline();
    json["culprits"] = Json(incident.culprits());
    json["culpritHosts"] = incident.culprit_hosts();
  }
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace

IncidentsCommand::IncidentsCommand(CLI::App& app)
    : Command(app, "incidents",
              "List the incidents that the coordinator keeps on disk, newest first") {
  coordinator_.AddTo(this->app(), kListTimeout);
  program::AddFlag(this->app(), "format", format_, "output format; json: one object per line")
      .Among({"text", "json"});
  program::AddFlag(this->app(), "limit", limit_, "number of incidents to list, the newest; 0: all");
}

int IncidentsCommand::Run() {
  if (limit_ < 0) {
    Complain("--limit: must not be negative");
    return program::kExitUsage;
  }
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<v1::ListIncidentsReply> reply = client->ListIncidents(limit_);
  if (!reply.ok()) return Fail(reply.status());
  std::string text;
  if (format_ == "json") {
    for (const v1::IncidentSummary& incident : reply->incidents()) text += JsonLine(incident);
  } else {
    text = Text(*reply);
  }
  return Print(text) ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
