#include "coordinator/removal/worker/removal_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/hooks/incident_event.h"

namespace rapideye::coordinator {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRevision[] = "revision";
constexpr char kPublished[] = "published";
// Far more digests than an incident may have: it is looked at 24 times at most.
constexpr int64_t kMaxRevision = 1000;
constexpr char kTime[] = "%Y-%m-%dT%H:%M:%E3SZ";

std::string Rendered(absl::Time time) { return absl::FormatTime(kTime, time, absl::UTCTimeZone()); }

Json Rendered(const Task& task, bool own) {
  Json hook = {{"hook", task.hook}};
  if (!own) hook["machine"] = task.subject;
  const IncidentEvent incident = EventOf(task.incident);
  hook["event"] = incident.name();
  if (incident.revision > 1) hook["revision"] = incident.revision;
  hook["state"] = task.state;
  hook["attempts"] = task.attempts;
  hook["outcome"] = task.outcome;
  hook["output"] = task.output;
  if (own && IsUnfinished(task)) {
    hook["notBefore"] = Rendered(task.not_before);
    hook["expires"] = Rendered(task.expires);
  }
  return hook;
}

bool IsPossible(const Task& task) {
  return task.attempts >= 0 &&
         (task.state == "due" || task.state == "acting" || !IsUnfinished(task));
}

// An own hook is of a digest that is out; if it may still run, it begins and expires some time.
bool IsPossibleHook(const Task& task, int64_t revision) {
  const int64_t of = EventOf(task.incident).revision;
  return IsPossible(task) && of >= 1 && of <= revision &&
         (!IsUnfinished(task) || std::max(task.not_before, task.expires) != absl::InfiniteFuture());
}

bool IsPossible(const RemovalRecord& record) {
  return record.revision >= 0 && record.revision <= kMaxRevision && record.published >= 0 &&
         record.published <= kMaxRevision &&
         std::all_of(
             record.hooks.begin(), record.hooks.end(),
             [&record](const Task& task) { return IsPossibleHook(task, record.revision); }) &&
         std::all_of(record.removals.begin(), record.removals.end(),
                     [](const Task& task) { return IsPossible(task); });
}

absl::Time ReadTime(const Json& json, const char* key) {
  absl::Time time;
  std::string error;
  // Version 0.1 wrote no times: the hook is too late.
  const bool read =
      absl::ParseTime(absl::RFC3339_full, json.value(key, std::string()), &time, &error);
  if (!read) return absl::UnixEpoch();
  return time;
}

Task ReadTask(const std::string& id, const Json& json) {
  Task task;
  task.subject = json.value("machine", std::string());
  task.hook = json.at("hook").get<std::string>();
  task.state = json.at("state").get<std::string>();
  task.attempts = json.at("attempts").get_ref<const int64_t&>();
  task.outcome = json.at("outcome").get<std::string>();
  task.output = json.at("output").get<std::string>();
  task.not_before = ReadTime(json, "notBefore");
  task.expires = ReadTime(json, "expires");
  const auto revision = json.find(kRevision);
  const std::string key =
      IncidentKey(id, revision == json.end() ? int64_t{1} : revision->get_ref<const int64_t&>());
  task.incident = json.value("event", std::string()) == "recovered" ? EndKey(key) : key;
  return task;
}

RemovalRecord Read(const Json& json) {
  RemovalRecord record;
  record.incident = json.at("incident").get<std::string>();
  record.mode = RemovalModeNamed(json.at("mode").get<std::string>()).value_or(RemovalMode::kDryRun);
  for (const Json& one : json.at("decisions")) {
    record.decisions.push_back({.machine = one.at("machine").get<std::string>(),
                                .host = one.at("host").get<std::string>(),
                                .action = one.at("action").get<std::string>(),
                                .rule = one.at("rule").get<std::string>(),
                                .reason = one.at("reason").get<std::string>()});
  }
  for (const Json& one : json.at("hooks")) {
    Task task = ReadTask(record.incident, one);
    record.revision = std::max(record.revision, EventOf(task.incident).revision);
    (task.subject.empty() ? record.hooks : record.removals).push_back(std::move(task));
  }
  record.is_copy = !json.contains(kPublished);
  if (record.is_copy) {
    record.revision = std::max<int64_t>(record.revision, 1);
    record.published = record.revision;
  } else {
    record.revision = json.at(kRevision).get_ref<const int64_t&>();
    record.published = json.at(kPublished).get_ref<const int64_t&>();
  }
  return record;
}

}  // namespace

bool IsUnfinished(const Task& task) {
  return task.state != "done" && task.state != "failed" && task.state != "expired";
}

std::string RenderRemovalRecord(const RemovalRecord& record) {
  Json decisions = Json::array();
  for (const MachineDecision& decision : record.decisions) {
    decisions.push_back({{"host", decision.host},
                         {"machine", decision.machine},
                         {"action", decision.action},
                         {"rule", decision.rule},
                         {"reason", decision.reason}});
  }
  // Digest by digest, the removals of each before its own hooks; the end comes last.
  std::set<std::pair<int64_t, bool>> events;
  for (const auto* tasks : {&record.removals, &record.hooks}) {
    for (const Task& task : *tasks) {
      events.emplace(EventOf(task.incident).revision, EventOf(task.incident).end);
    }
  }
  Json hooks = Json::array();
  for (const auto& [revision, end] : events) {
    for (const auto* tasks : {&record.removals, &record.hooks}) {
      for (const Task& task : *tasks) {
        const IncidentEvent event = EventOf(task.incident);
        if (event.revision != revision || event.end != end) continue;
        hooks.push_back(Rendered(task, tasks == &record.hooks));
      }
    }
  }
  const Json json = {
      {"incident", record.incident},       {"mode", std::string(RemovalModeName(record.mode))},
      {"decisions", std::move(decisions)}, {"hooks", std::move(hooks)},
      {kRevision, record.revision},        {kPublished, record.published}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

absl::StatusOr<RemovalRecord> ParseRemovalRecord(const std::string& json) {
  // The library reports a missing key, or one of another type, by an exception alone.
  try {
    RemovalRecord record = Read(Json::parse(json));
    if (IsPossible(record)) return record;
    return absl::InvalidArgumentError("a state or a number is none that a hook can have");
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace rapideye::coordinator
