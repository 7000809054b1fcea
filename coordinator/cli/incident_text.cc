#include "coordinator/cli/incident_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::cli {

using Json = nlohmann::ordered_json;

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

Json IncidentJson(const v1::IncidentSummary& incident) {
  Json json = {{"incidentId", incident.id()}};
  if (!incident.detected_at().empty()) json["detectedAt"] = incident.detected_at();
  if (!incident.problem().empty()) {
    json["problem"] = incident.problem();
    return json;
  }
  if (!incident.job().empty()) json["job"] = incident.job();
  json["cause"] = incident.cause();
  if (!incident.detail().empty()) json["detail"] = incident.detail();
  if (incident.revision() > 1) json["revision"] = incident.revision();
  if (incident.has_confidence()) json["confidence"] = incident.confidence();
  json["headline"] = incident.headline();
  json["culprits"] = Json(incident.culprits());
  json["culpritHosts"] = incident.culprit_hosts();
  return json;
}

}  // namespace rapideye::cli
