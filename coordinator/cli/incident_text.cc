#include "coordinator/cli/incident_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace rapideye::cli {

using Json = nlohmann::ordered_json;

std::string CauseOf(const v1::IncidentSummary& incident) {
  if (!incident.problem().empty()) return absl::StrCat("broken: ", incident.problem());
  return absl::StrCat(
      incident.cause(), incident.detail().empty() ? "" : " ", incident.detail(),
      incident.revision() > 1 ? absl::StrCat(" (revision ", incident.revision(), ")") : "");
}

std::string StateOf(const v1::IncidentSummary& incident) {
  std::string text = "-";
  switch (incident.state()) {
    case v1::IncidentSummary::OPEN:
      text = "open";
      break;
    case v1::IncidentSummary::RECOVERED:
      text = "recovered";
      if (incident.has_lasted_ms()) {
        const absl::Duration lasted = absl::Milliseconds(incident.lasted_ms());
        absl::StrAppend(&text, " after ",
                        absl::FormatDuration(absl::Trunc(lasted, absl::Seconds(1))));
      }
      break;
    case v1::IncidentSummary::OVER:
      text = "over";
      break;
    default:
      break;
  }
  if (incident.has_acknowledged()) {
    absl::StrAppend(&text, ", acknowledged by ", incident.acknowledged().by());
  }
  return text;
}

std::string CulpritsOf(const v1::IncidentSummary& incident) {
  if (incident.culprits().empty()) return "-";
  const int more = incident.culprit_hosts() - incident.culprits_size();
  return absl::StrCat(absl::StrJoin(incident.culprits(), ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

Json AcknowledgementJson(const v1::Acknowledgement& acknowledgement) {
  return {{"at", acknowledgement.at()},
          {"by", acknowledgement.by()},
          {"reason", acknowledgement.reason()}};
}

namespace {

void AddState(const v1::IncidentSummary& incident, Json& json) {
  if (incident.state() == v1::IncidentSummary::OPEN) json["state"] = "open";
  if (incident.state() == v1::IncidentSummary::OVER) json["state"] = "over";
  if (incident.state() == v1::IncidentSummary::RECOVERED) json["state"] = "recovered";
  if (incident.has_lasted_ms()) json["lastedMs"] = incident.lasted_ms();
  if (!incident.end().empty()) json["end"] = incident.end();
  if (incident.has_acknowledged()) {
    json["acknowledged"] = AcknowledgementJson(incident.acknowledged());
  }
}

}  // namespace

Json IncidentJson(const v1::IncidentSummary& incident) {
  Json json = {{"incidentId", incident.id()}};
  if (!incident.detected_at().empty()) json["detectedAt"] = incident.detected_at();
  AddState(incident, json);
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
  if (!incident.sentence().empty()) json["sentence"] = incident.sentence();
  json["culprits"] = Json(incident.culprits());
  json["culpritHosts"] = incident.culprit_hosts();
  return json;
}

}  // namespace rapideye::cli
