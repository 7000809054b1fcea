#include "coordinator/removal/worker/removal_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/store/incident_files.h"

namespace rapideye::coordinator {

std::string RenderRemovalRecord(const RemovalRecord& record) {
  nlohmann::ordered_json decisions = nlohmann::ordered_json::array();
  for (const MachineDecision& decision : record.decisions) {
    decisions.push_back({{"host", decision.host},
                         {"machine", decision.machine},
                         {"action", decision.action},
                         {"rule", decision.rule},
                         {"reason", decision.reason}});
  }
  nlohmann::ordered_json hooks = nlohmann::ordered_json::array();
  for (const Task& task : record.hooks) {
    nlohmann::ordered_json hook = {{"hook", task.hook}};
    if (!task.subject.empty()) hook["machine"] = task.subject;
    const IncidentEvent incident = EventOf(task.incident);
    hook["event"] = incident.name();
    if (incident.revision > 1) hook["revision"] = incident.revision;
    hook["state"] = task.state;
    hook["attempts"] = task.attempts;
    hook["outcome"] = task.outcome;
    hook["output"] = task.output;
    hooks.push_back(std::move(hook));
  }
  const nlohmann::ordered_json json = {{"incident", record.incident},
                                       {"mode", std::string(RemovalModeName(record.mode))},
                                       {"decisions", std::move(decisions)},
                                       {"hooks", std::move(hooks)}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool IsUnfinished(const std::string& rendered) {
  const auto json = nlohmann::json::parse(rendered, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("hooks") || !json["hooks"].is_array()) return true;
  return std::any_of(json["hooks"].begin(), json["hooks"].end(), [](const nlohmann::json& hook) {
    const auto state = hook.is_object() ? hook.value("state", nlohmann::json()) : nlohmann::json();
    return state != "done" && state != "failed" && state != "expired";
  });
}

absl::Status WriteRemovalRecord(Disk& disk, const std::string& directory,
                                const RemovalRecord& record) {
  const std::string path = absl::StrCat(directory, "/", kHooksFile);
  const std::string temporary = absl::StrCat(path, ".new");
  if (absl::Status status = disk.RemoveAll(temporary); !status.ok()) return status;
  if (absl::Status status = disk.WriteFile(temporary, RenderRemovalRecord(record)); !status.ok()) {
    return status;
  }
  if (absl::Status status = disk.Replace(temporary, path); !status.ok()) return status;
  return disk.SyncDirectory(directory);
}

}  // namespace rapideye::coordinator
