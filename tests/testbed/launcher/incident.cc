#include "tests/testbed/launcher/incident.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

using Json = nlohmann::json;

Named ParseNamed(const Json& json) {
  Named named{{json.at("slice").get<int>(), json.at("task").get<int>()},
              json.at("host").get<std::string>(),
              std::nullopt};
  if (json.contains("chip")) named.chip = json.at("chip").get<int>();
  return named;
}

absl::Duration Milliseconds(const Json& timings, const char* key) {
  return absl::Milliseconds(timings.at(key).get<int64_t>());
}

Finding FindingFrom(const Json& json) {
  Finding finding;
  finding.cause = json.at("cause").get<std::string>();
  finding.detail = json.value("detail", "");
  if (json.contains("confidence")) finding.confidence = json.at("confidence").get<double>();
  for (const Json& culprit : json.at("culprits")) {
    finding.culprits.push_back(ParseNamed(culprit));
    if (culprit.contains("nic")) finding.nics.push_back(culprit.at("nic").get<std::string>());
  }
  for (const Json& worker : json.at("workers").at("missing")) {
    finding.missing.push_back(ParseNamed(worker));
  }
  finding.removable = json.at("removal").at("eligible").get<bool>();
  if (json.contains("hloComparison")) finding.hlo_comparison = json.at("hloComparison").dump();
  absl::Time detected;
  std::string error;
  if (json.contains("detectedAt") &&
      absl::ParseTime(absl::RFC3339_full, json.at("detectedAt").get<std::string>(), &detected,
                      &error)) {
    finding.detected_at = detected;
  }
  if (json.contains("timings")) {  // an offline diagnosis has none
    const Json& timings = json.at("timings");
    finding.detect_to_collect = Milliseconds(timings, "detectToCollectMs");
    finding.collect = Milliseconds(timings, "collectMs");
    finding.classify = Milliseconds(timings, "classifyMs");
    finding.render = Milliseconds(timings, "renderMs");
  }
  return finding;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

}  // namespace

absl::StatusOr<Finding> ParseDigest(const std::string& json) {
  try {
    return FindingFrom(Json::parse(json));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("digest: ", error.what()));
  }
}

absl::StatusOr<Incident> ReadIncident(const std::string& directory) {
  Incident incident;
  incident.directory = directory;
  incident.json_path = absl::StrCat(directory, "/digest.json");
  incident.capture_path = absl::StrCat(directory, "/capture.jsonl.gz");
  if (!std::filesystem::exists(incident.capture_path)) {
    return absl::NotFoundError(absl::StrCat(incident.capture_path, ": is not there"));
  }
  absl::StatusOr<std::string> text = ReadFile(absl::StrCat(directory, "/digest.txt"));
  if (!text.ok()) return text.status();
  incident.text = *std::move(text);
  absl::StatusOr<std::string> json = ReadFile(incident.json_path);
  if (!json.ok()) return json.status();
  absl::StatusOr<Finding> finding = ParseDigest(*json);
  if (!finding.ok()) return finding.status();
  incident.finding = *std::move(finding);
  return incident;
}

}  // namespace rapideye::testbed
