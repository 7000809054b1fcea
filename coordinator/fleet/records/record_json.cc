#include "coordinator/fleet/records/record_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void Put(Json& json, const char* key, const std::optional<T>& value) {
  if (value.has_value()) json[key] = *value;
}

template <typename T>
std::optional<T> Get(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  return found->get_ref<const T&>();
}

Json CulpritJson(const CulpritRecord& culprit) {
  Json json = {{"machine", culprit.machine}, {"host", culprit.host}};
  Put(json, "hardware", culprit.hardware);
  Put(json, "node", culprit.node);
  Put(json, "chip", culprit.chip);
  json["coreType"] = culprit.core_type;
  Put(json, "coreIndex", culprit.core_index);
  Put(json, "nic", culprit.nic);
  json["grounds"] = std::string(GroundsName(culprit.grounds));
  json["slice"] = culprit.slice;
  json["task"] = culprit.task;
  Put(json, "homeSlice", culprit.home_slice);
  Put(json, "homeTask", culprit.home_task);
  Put(json, "module", culprit.module);
  Put(json, "fingerprint", culprit.fingerprint);
  return json;
}

CulpritRecord CulpritOf(const Json& json) {
  CulpritRecord culprit;
  culprit.machine = json.at("machine").get<std::string>();
  culprit.host = json.at("host").get<std::string>();
  culprit.hardware = Get<std::string>(json, "hardware");
  culprit.node = Get<std::string>(json, "node");
  culprit.chip = Get<int64_t>(json, "chip");
  culprit.core_type = json.at("coreType").get<std::string>();
  culprit.core_index = Get<int64_t>(json, "coreIndex");
  culprit.nic = Get<std::string>(json, "nic");
  culprit.grounds = GroundsNamed(json.at("grounds").get<std::string>());
  culprit.slice = json.at("slice").get_ref<const int64_t&>();
  culprit.task = json.at("task").get_ref<const int64_t&>();
  culprit.home_slice = Get<int64_t>(json, "homeSlice");
  culprit.home_task = Get<int64_t>(json, "homeTask");
  culprit.module = Get<std::string>(json, "module");
  culprit.fingerprint = Get<std::string>(json, "fingerprint");
  return culprit;
}

}  // namespace

std::string RenderRecord(const IncidentRecord& record) {
  Json culprits = Json::array();
  for (const CulpritRecord& culprit : record.culprits) culprits.push_back(CulpritJson(culprit));
  const Json json = {{"incident", record.id},
                     {"job", record.job},
                     {"incarnation", record.incarnation},
                     {"cause", record.cause},
                     {"detail", record.detail},
                     {"confidence", record.confidence},
                     {"detectedUnixMs", absl::ToUnixMillis(record.detected)},
                     {"hosts", record.hosts},
                     {"slices", record.slices},
                     {"culprits", std::move(culprits)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<IncidentRecord> ParseRecord(const std::string& json) {
  // The library reports a missing key, or one of another type, by an exception alone; not so
  // where it converts a fraction to an integer.
  try {
    const Json whole = Json::parse(json);
    IncidentRecord record;
    record.id = whole.at("incident").get<std::string>();
    record.job = whole.at("job").get<std::string>();
    record.incarnation = whole.at("incarnation").get<std::string>();
    record.cause = whole.at("cause").get<std::string>();
    record.detail = whole.at("detail").get<std::string>();
    record.confidence = whole.at("confidence").get<double>();
    record.detected = absl::FromUnixMillis(whole.at("detectedUnixMs").get_ref<const int64_t&>());
    record.hosts = whole.at("hosts").get_ref<const int64_t&>();
    record.slices = whole.at("slices").get_ref<const int64_t&>();
    for (const Json& culprit : whole.at("culprits")) record.culprits.push_back(CulpritOf(culprit));
    return record;
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("no record of an incident: ", error.what()));
  }
}

}  // namespace rapideye::coordinator
