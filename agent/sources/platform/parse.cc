#include "agent/sources/platform/parse.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/platform/limits.h"

namespace rapideye::agent {
namespace {

using Json = nlohmann::json;
using Meaning = std::pair<absl::string_view, LogKind>;

// Reasons of events: kubelet's, node-problem-detector's, the scheduler's, GKE's and EKS's.
constexpr std::array<Meaning, 14> kReasons = {{{"Preempted", LogKind::kPreempted},
                                               {"Preempting", LogKind::kPreempted},
                                               {"Evicted", LogKind::kPreempted},
                                               {"TaintManagerEviction", LogKind::kPreempted},
                                               {"PreemptScheduled", LogKind::kPreempted},
                                               {"TerminateScheduled", LogKind::kPreempted},
                                               {"RebootScheduled", LogKind::kPreempted},
                                               {"NodeNotReady", LogKind::kHostCrash},
                                               {"Rebooted", LogKind::kHostCrash},
                                               {"KernelOops", LogKind::kHostCrash},
                                               {"OOMKilling", LogKind::kHostOom},
                                               {"SystemOOM", LogKind::kHostOom},
                                               {"TaskHung", LogKind::kHungTask},
                                               {"DeletingNode", LogKind::kPreempted}}};
// Taints that say that the node goes, or has gone.
constexpr std::array<Meaning, 5> kTaints = {
    {{"cloud.google.com/impending-node-termination", LogKind::kPreempted},
     {"ToBeDeletedByClusterAutoscaler", LogKind::kPreempted},
     {"node.kubernetes.io/out-of-service", LogKind::kHostCrash},
     {"node.kubernetes.io/unreachable", LogKind::kHostCrash},
     {"node.kubernetes.io/not-ready", LogKind::kHostCrash}}};
// Words of Slurm's states; the longer name of two comes first.
constexpr std::array<Meaning, 9> kStates = {{{"DOWN", LogKind::kHostCrash},
                                             {"FAIL", LogKind::kHostCrash},
                                             {"NOT_RESPONDING", LogKind::kHostCrash},
                                             {"DRAIN", LogKind::kHostCrash},
                                             {"REBOOT", LogKind::kPreempted},
                                             {"POWERING_DOWN", LogKind::kPreempted},
                                             {"POWER_DOWN", LogKind::kPreempted},
                                             {"POWERED_DOWN", LogKind::kPreempted},
                                             {"MAINT", LogKind::kPreempted}}};

absl::StatusOr<Json> Object(absl::string_view text, const char* of) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(of, ": the answer is no JSON object"));
  }
  return json;
}

// Members of anything; absent ones, and those of another type, are empty.
std::string Text(const Json& json, const char* key) {
  if (!json.is_object()) return "";
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& List(const Json& json, const char* key) {
  static const Json kEmpty = Json::array();
  if (!json.is_object()) return kEmpty;
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : kEmpty;
}

const Json& Part(const Json& json, const char* key) {
  static const Json kEmpty = Json::object();
  if (!json.is_object()) return kEmpty;
  const auto found = json.find(key);
  return found != json.end() ? *found : kEmpty;
}

std::optional<absl::Time> TimeOf(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    absl::Time time;
    std::string error;
    if (absl::ParseTime(absl::RFC3339_full, Text(json, key), &time, &error)) return time;
  }
  return std::nullopt;
}

std::optional<absl::Duration> AgeOf(std::optional<absl::Time> time, absl::Time now) {
  if (!time.has_value()) return std::nullopt;
  return std::max(now - *time, absl::ZeroDuration());
}

template <typename Table>
std::optional<LogKind> KindOf(absl::string_view name, const Table& table) {
  for (const auto& [known, kind] : table) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string PlatformText(absl::string_view text) {
  std::string line(text.substr(0, kMaxPlatformTextBytes));
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return std::string(absl::StripAsciiWhitespace(line));
}

PlatformEvents ParsePreempted(absl::string_view text) {
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(text), "TRUE")) return {};
  return {{LogKind::kPreempted, "Compute Engine says that this VM has been preempted", {}}};
}

PlatformEvents ParseMaintenanceEvent(absl::string_view text) {
  const std::string event = PlatformText(text);
  if (event.empty() || event == "NONE") return {};
  return {{LogKind::kPreempted,
           absl::StrCat("Compute Engine announces a maintenance event of this VM: ", event),
           {}}};
}

absl::StatusOr<PlatformEvents> ParseUpcomingMaintenance(absl::string_view json, absl::Time now) {
  const absl::StatusOr<Json> answer = Object(json, "upcoming-maintenance");
  if (!answer.ok()) return answer.status();
  const std::string status =
      absl::StrCat(Text(*answer, "maintenance_status"), Text(*answer, "maintenanceStatus"));
  const std::optional<absl::Time> begins =
      TimeOf(*answer, {"window_start_time", "windowStartTime"});
  const bool begun = status == "ONGOING" || (begins.has_value() && *begins <= now);
  if (status.empty() || !begun) return PlatformEvents();
  const std::string type = absl::StrCat(Text(*answer, "type"), Text(*answer, "maintenance_type"));
  return PlatformEvents{{LogKind::kPreempted,
                         PlatformText(absl::StrCat("Compute Engine maintains the host of this VM: ",
                                                   status, type.empty() ? "" : ", ", type)),
                         AgeOf(begins, now)}};
}

absl::StatusOr<PlatformEvents> ParseNode(absl::string_view json, absl::Time now) {
  const absl::StatusOr<Json> node = Object(json, "node");
  if (!node.ok()) return node.status();
  PlatformEvents events;
  for (const Json& condition : List(Part(*node, "status"), "conditions")) {
    const std::string type = Text(condition, "type");
    const std::string status = Text(condition, "status");
    const bool ready = type == "Ready";
    // Every condition but Ready names a fault. Pressure alone ends no worker.
    const bool pressure = absl::EndsWith(type, "Pressure");
    if (type.empty() || pressure || (ready ? status == "True" : status != "True")) continue;
    // Skips conditions by which components, such as autoscalers, report their own work.
    if (!ready && type != "NetworkUnavailable" && !absl::StrContains(type, "Problem") &&
        !absl::StrContains(type, "Deadlock") && !absl::StrContains(type, "Readonly") &&
        !absl::StrContains(type, "Unhealthy") && !absl::StartsWith(type, "Frequent")) {
      continue;
    }
    events.push_back(
        {LogKind::kHostCrash,
         PlatformText(absl::StrCat("Kubernetes says of the node: ", type, " is ", status, " (",
                                   Text(condition, "reason"), "): ", Text(condition, "message"))),
         AgeOf(TimeOf(condition, {"lastTransitionTime"}), now)});
  }
  for (const Json& taint : List(Part(*node, "spec"), "taints")) {
    const std::string key = Text(taint, "key");
    const std::optional<LogKind> kind = KindOf(key, kTaints);
    if (!kind.has_value()) continue;
    events.push_back({*kind, PlatformText(absl::StrCat("Kubernetes has tainted the node: ", key)),
                      AgeOf(TimeOf(taint, {"timeAdded"}), now)});
  }
  return events;
}

absl::StatusOr<PlatformEvents> ParseEvents(absl::string_view json, absl::Time now) {
  const absl::StatusOr<Json> list = Object(json, "events");
  if (!list.ok()) return list.status();
  PlatformEvents events;
  for (const Json& item : List(*list, "items")) {
    const std::string reason = Text(item, "reason");
    const std::optional<LogKind> kind = KindOf(reason, kReasons);
    if (!kind.has_value()) continue;
    const std::optional<absl::Duration> age =
        AgeOf(TimeOf(item, {"lastTimestamp", "eventTime", "firstTimestamp"}), now);
    if (!age.has_value() || *age > kKeepPlatformEvents) continue;
    const std::string about = Text(Part(item, "involvedObject"), "kind");
    events.push_back(
        {*kind,
         PlatformText(absl::StrCat("Kubernetes says of the ",
                                   absl::AsciiStrToLower(about.empty() ? "pod" : about), ": ",
                                   reason, ": ", Text(item, "message"))),
         age});
    if (events.size() >= kMaxPlatformEvents) break;
  }
  return events;
}

absl::StatusOr<PlatformEvents> ParseSlurmNode(absl::string_view line) {
  const size_t at = line.find("State=");
  if (at == absl::string_view::npos) {
    return absl::InvalidArgumentError("scontrol names no state of the node");
  }
  const absl::string_view state = line.substr(at + 6, line.find_first_of(" \n", at) - at - 6);
  std::string reason;
  if (const size_t found = line.find("Reason="); found != absl::string_view::npos) {
    // The reason fills the line, and its author comes last: "[root@2026-11-23T03:41:54]".
    const absl::string_view rest = line.substr(found + 7);
    reason = std::string(rest.substr(0, rest.find('\n')));
  }
  for (const auto& [word, kind] : kStates) {
    // "IDLE*" does not respond.
    if (!absl::StrContains(state, word)) continue;
    return PlatformEvents{{kind,
                           PlatformText(absl::StrCat("Slurm says of the node: ", state,
                                                     reason.empty() ? "" : ": ", reason)),
                           {}}};
  }
  if (absl::StrContains(state, '*')) {
    return PlatformEvents{
        {LogKind::kHostCrash,
         PlatformText(absl::StrCat("Slurm says of the node: ", state, ": it does not respond")),
         {}}};
  }
  return PlatformEvents();
}

}  // namespace rapideye::agent
