#include "coordinator/store/incident_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;
// More digests than any incident has; each digest costs work.
constexpr int64_t kMaxRevision = 1000;

// A list shows little of a large digest: other members are not kept while
// parsing.
bool Wanted(const std::string& key) {
  static const std::set<std::string_view> kKeys = {
      "schemaVersion", "detectedAt", "job",      "cause",    "detail",
      "confidence",    "headline",   "sentence", "culprits", "revision"};
  return kKeys.contains(key);
}

json ParseWanted(const std::string& text) {
  const auto keep = [](int depth, json::parse_event_t event, json& parsed) {
    return event != json::parse_event_t::key || depth != 1 ||
           Wanted(parsed.get_ref<const std::string&>());
  };
  return json::parse(text, keep, /*allow_exceptions=*/false);
}

// "" unless it is there and a string.
std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "";
  return text::ValidUtf8(found->get_ref<const std::string&>(), text::kMaxSentenceBytes);
}

void TakeCulprits(const json& culprits, IncidentSummary& summary) {
  if (!culprits.is_array()) return;
  std::set<std::string> hosts;
  for (const json& culprit : culprits) {
    if (!culprit.is_object()) continue;
    std::string host = Text(culprit, "host");
    if (host.empty() || !hosts.insert(host).second) continue;
    if (summary.culprits.size() < kMaxListedCulprits) summary.culprits.push_back(std::move(host));
  }
  summary.culprit_hosts = hosts.size();
}

}  // namespace

absl::StatusOr<IncidentSummary> SummariseDigest(const std::string& text) {
  const json digest = ParseWanted(text);
  if (!digest.is_object()) return absl::InvalidArgumentError("it is not a JSON object");
  const auto version = digest.find("schemaVersion");
  if (version == digest.end() || *version != kSchemaVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("its schemaVersion is not ", kSchemaVersion, ": another version wrote it"));
  }
  IncidentSummary summary;
  summary.detected_at = Text(digest, "detectedAt");
  summary.job = Text(digest, "job");
  summary.cause = Text(digest, "cause");
  summary.detail = Text(digest, "detail");
  summary.headline = Text(digest, "headline");
  summary.sentence = Text(digest, "sentence");
  if (const auto confidence = digest.find("confidence");
      confidence != digest.end() && confidence->is_number()) {
    summary.confidence = confidence->get<double>();
  }
  if (const auto revision = digest.find("revision");
      revision != digest.end() && revision->is_number_integer()) {
    summary.revision = std::clamp<int64_t>(revision->get<int64_t>(), 1, kMaxRevision);
  }
  if (const auto culprits = digest.find("culprits"); culprits != digest.end()) {
    TakeCulprits(*culprits, summary);
  }
  if (summary.cause.empty()) return absl::InvalidArgumentError("it names no cause");
  return summary;
}

ToldVerdict VerdictOf(const IncidentSummary& summary) {
  return {.cause = summary.cause,
          .detail = summary.detail,
          .confidence = summary.confidence,
          .headline = summary.headline,
          .sentence = summary.sentence,
          .culprits = summary.culprits,
          .culprit_hosts = summary.culprit_hosts};
}

std::optional<absl::Duration> Lasted(const IncidentSummary& summary) {
  absl::Time detected;
  if (!summary.ended.has_value() ||
      !absl::ParseTime(absl::RFC3339_full, summary.detected_at, &detected, /*err=*/nullptr)) {
    return std::nullopt;
  }
  return std::max(summary.ended->ended - detected, absl::ZeroDuration());
}

std::string TimeOfId(const std::string& id) {
  return absl::StrCat(id.substr(0, 4), "-", id.substr(4, 2), "-", id.substr(6, 2), "T",
                      id.substr(9, 2), ":", id.substr(11, 2), ":", id.substr(13, 2), "Z");
}

}  // namespace rapideye::coordinator
