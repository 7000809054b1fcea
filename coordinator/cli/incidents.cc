#include "coordinator/cli/incidents.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/cli/incident_text.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/table.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

// The coordinator may have to read many digests from a slow disk.
constexpr absl::Duration kListTimeout = absl::Seconds(30);

std::string Text(const std::vector<v1::IncidentSummary>& incidents) {
  Table table({"ID", "DETECTED", "STATE", "JOB", "CONFIDENCE", "CAUSE", "CULPRITS"});
  for (const v1::IncidentSummary& incident : incidents) {
    table.Add({incident.id(), incident.detected_at(), StateOf(incident),
               incident.job().empty() ? "-" : incident.job(),
               incident.has_confidence() ? absl::StrFormat("%.2f", incident.confidence()) : "-",
               CauseOf(incident), CulpritsOf(incident)});
  }
  return table.Text("");
}

using Incidents = google::protobuf::RepeatedPtrField<v1::IncidentSummary>;

// True if a verdict can have this name, in capitals, as its cause or its detail.
bool IsCauseOrDetail(std::string_view name) {
  for (int cause = 0; cause <= static_cast<int>(Cause::kUnknown); ++cause) {
    if (CauseName(static_cast<Cause>(cause)) == name) return true;
  }
  for (int detail = 1; detail <= static_cast<int>(Detail::kEnded); ++detail) {
    if (DetailName(static_cast<Detail>(detail)) == name) return true;
  }
  return false;
}

// The distinct causes and details, or hosts, that the incidents name.
std::vector<std::string> CausesOf(const Incidents& incidents) {
  std::set<std::string> causes;
  for (const v1::IncidentSummary& incident : incidents) {
    causes.insert({incident.cause(), incident.detail()});
  }
  causes.erase("");
  return {causes.begin(), causes.end()};
}
std::vector<std::string> HostsOf(const Incidents& incidents) {
  std::set<std::string> hosts;
  for (const v1::IncidentSummary& incident : incidents) {
    hosts.insert(incident.culprits().begin(), incident.culprits().end());
  }
  return {hosts.begin(), hosts.end()};
}

// A list holds only the first culprits of each incident.
bool Names(const v1::IncidentSummary& incident, const std::string& host) {
  return std::find(incident.culprits().begin(), incident.culprits().end(), host) !=
         incident.culprits().end();
}

}  // namespace

IncidentsCommand::IncidentsCommand(CLI::App& app)
    : Command(app, "incidents",
              "List the incidents that the coordinator keeps on disk, newest first") {
  coordinator_.AddTo(this->app(), kListTimeout);
  AddFormat(format_, "output format; json: one object per line");
  program::AddFlag(this->app(), "limit", limit_, "number of incidents to list, the newest; 0: all");
  program::AddFlag(this->app(), "cause", cause_, "lists only incidents with this cause or detail")
      .WithoutVariable();  // RAPIDEYE_CAUSE is what a hook is told
  program::AddFlag(this->app(), "host", host_,
                   "lists only incidents that name this host among their first culprits")
      .WithoutVariable();  // RAPIDEYE_HOST is an agent's own
  program::AddFlag(this->app(), "since", since_,
                   "lists only incidents detected since: an age (12h) or a moment (2026-11-20, "
                   "2026-11-20T12:44:00Z)");
}

absl::StatusOr<absl::Time> IncidentsCommand::Since() const {
  if (since_.empty()) return absl::InfinitePast();
  absl::Duration age;
  if (absl::ParseDuration(since_, &age) && age >= absl::ZeroDuration()) return absl::Now() - age;
  absl::Time moment;
  for (const char* format : {absl::RFC3339_full, "%Y-%m-%d"}) {
    if (absl::ParseTime(format, since_, &moment, /*err=*/nullptr)) return moment;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--since: '", Shown(since_),
      "' is neither an age such as 12h nor a moment such as 2026-11-20 or 2026-11-20T12:44:00Z"));
}

bool IncidentsCommand::Wanted(const v1::IncidentSummary& incident, absl::Time since) const {
  if (!cause_.empty() && !absl::EqualsIgnoreCase(incident.cause(), cause_) &&
      !absl::EqualsIgnoreCase(incident.detail(), cause_)) {
    return false;
  }
  if (!host_.empty() && !Names(incident, host_)) return false;
  absl::Time detected;
  // A broken incident has its time in its id; without any time it is shown.
  return !absl::ParseTime(absl::RFC3339_full, incident.detected_at(), &detected, /*err=*/nullptr) ||
         detected >= since;
}

std::string IncidentsCommand::Mistyped(const v1::ListIncidentsReply& reply) const {
  const std::vector<std::string> causes = CausesOf(reply.incidents());
  const auto is_cause = [&](const std::string& name) {
    return absl::EqualsIgnoreCase(name, cause_);
  };
  if (!cause_.empty() && std::none_of(causes.begin(), causes.end(), is_cause)) {
    const std::string named = absl::AsciiStrToUpper(cause_);
    return absl::StrCat(": none has the cause or detail '", Shown(cause_), "'",
                        IsCauseOrDetail(named) ? "" : Closest(named, causes));
  }
  const std::vector<std::string> hosts = HostsOf(reply.incidents());
  if (!host_.empty() && std::find(hosts.begin(), hosts.end(), host_) == hosts.end()) {
    return absl::StrCat(": none names the host '", Shown(host_), "'", Closest(host_, hosts));
  }
  return "";
}

int IncidentsCommand::Run() {
  if (limit_ < 0) {
    Complain("--limit: must not be negative");
    return program::kExitUsage;
  }
  const absl::StatusOr<absl::Time> since = Since();
  if (!since.ok()) return Fail(since.status());
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  // One incident more than wanted shows whether there are more; a filter has to see all.
  const bool filtered = !cause_.empty() || !host_.empty() || !since_.empty();
  const bool all = filtered || limit_ == 0 || limit_ == std::numeric_limits<int32_t>::max();
  const absl::StatusOr<v1::ListIncidentsReply> reply = client->ListIncidents(all ? 0 : limit_ + 1);
  if (!reply.ok()) return Fail(reply.status());
  std::vector<v1::IncidentSummary> wanted;
  for (const v1::IncidentSummary& incident : reply->incidents()) {
    if (Wanted(incident, *since)) wanted.push_back(incident);
  }
  const size_t limit = limit_ == 0 ? wanted.size() : static_cast<size_t>(limit_);
  const bool more = wanted.size() > limit;
  wanted.resize(std::min(wanted.size(), limit));
  std::string text;
  if (format_ == "json") {
    for (const v1::IncidentSummary& incident : wanted) {
      text += digest::Dump(IncidentJson(incident), /*pretty=*/false) + "\n";
    }
  } else {
    text = wanted.empty() ? absl::StrCat("no incidents", Mistyped(*reply), "\n") : Text(wanted);
    if (more) absl::StrAppend(&text, "… and older ones: --limit=0 lists all\n");
  }
  return Print(text) ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
