#include "coordinator/otlp/log_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

using Json = nlohmann::ordered_json;

// OpenTelemetry's severity numbers.
constexpr int kInfo = 9;
constexpr int kError = 17;

Json String(std::string_view text, size_t max_bytes = text::kMaxSentenceBytes) {
  return {{"stringValue", text::ValidUtf8(text, max_bytes)}};
}
// In the JSON of protobuf a 64-bit number is a string.
Json Int(int64_t number) { return {{"intValue", absl::StrCat(number)}}; }

void Add(Json& attributes, const char* key, Json value) {
  attributes.push_back({{"key", key}, {"value", std::move(value)}});
}

std::string Nanoseconds(absl::Time time) {
  return absl::StrCat(std::max<int64_t>(absl::ToUnixNanos(time), 0));
}

Json AttributesOf(const IncidentEvent& event) {
  Json attributes = Json::array();
  Add(attributes, "rapideye.event", String(IncidentEventName(event.kind)));
  Add(attributes, "rapideye.incident", String(event.incident));
  Add(attributes, "rapideye.revision", Int(event.revision));
  if (!event.job.empty()) Add(attributes, "rapideye.job", String(event.job));
  if (!event.verdict.has_value()) return attributes;
  const ToldVerdict& verdict = *event.verdict;
  Add(attributes, "rapideye.cause", String(verdict.cause));
  if (!verdict.detail.empty()) Add(attributes, "rapideye.detail", String(verdict.detail));
  if (verdict.confidence.has_value()) {
    Add(attributes, "rapideye.confidence", {{"doubleValue", *verdict.confidence}});
  }
  if (!verdict.headline.empty()) Add(attributes, "rapideye.headline", String(verdict.headline));
  if (!verdict.sentence.empty()) Add(attributes, "rapideye.sentence", String(verdict.sentence));
  Json culprits = Json::array();
  for (const std::string& host : verdict.culprits) culprits.push_back(String(host));
  Add(attributes, "rapideye.culprits", {{"arrayValue", {{"values", std::move(culprits)}}}});
  Add(attributes, "rapideye.culprit_hosts", Int(static_cast<int64_t>(verdict.culprit_hosts)));
  return attributes;
}

Json RecordOf(const IncidentEvent& event) {
  const bool over = event.kind == IncidentEventKind::kRecovered;
  return {{"timeUnixNano", Nanoseconds(event.at)},
          {"observedTimeUnixNano", Nanoseconds(event.observed)},
          {"severityNumber", over ? kInfo : kError},
          {"severityText", over ? "INFO" : "ERROR"},
          {"eventName", absl::StrCat("rapideye.incident.", IncidentEventName(event.kind))},
          {"body", String(event.text, kMaxLogBody)},
          {"attributes", AttributesOf(event)}};
}

}  // namespace

const char* IncidentEventName(IncidentEventKind kind) {
  switch (kind) {
    case IncidentEventKind::kOpened:
      return "opened";
    case IncidentEventKind::kChanged:
      return "changed";
    case IncidentEventKind::kRecovered:
      return "recovered";
  }
  return "unknown";
}

std::string RenderLogs(const std::vector<IncidentEvent>& events) {
  Json resource = Json::array();
  Add(resource, "service.name", String("rapideye-coordinator"));
  Add(resource, "service.version", String(program::Version()));
  Json records = Json::array();
  for (const IncidentEvent& event : events) records.push_back(RecordOf(event));
  const Json scope_logs = {
      {"scope", {{"name", "rapideye"}, {"version", program::Version()}}},
      {"logRecords", std::move(records)},
  };
  const Json resource_logs = {
      {"resource", {{"attributes", std::move(resource)}}},
      {"scopeLogs", Json::array({scope_logs})},
  };
  const Json request = {{"resourceLogs", Json::array({resource_logs})}};
  return request.dump();
}

}  // namespace rapideye::coordinator
