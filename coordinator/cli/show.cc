#include "coordinator/cli/show.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/cli/incident_text.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/table.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

// A capture of a large job over a slow line.
constexpr absl::Duration kShowTimeout = absl::Minutes(1);
constexpr char kNewest[] = "latest";
// YYYYMMDDTHHMMSSZ-<8 hex>
constexpr size_t kIdBytes = 25;

bool IsWholeId(const std::string& text) { return text.size() == kIdBytes; }

}  // namespace

ShowCommand::ShowCommand(CLI::App& app)
    : Command(app, "show", "Print the digest or the capture of one incident") {
  program::AddArgument(this->app(), "ID", id_,
                       "Id of an incident, as 'rapideye incidents' lists it; the beginning of its "
                       "date, or of the part after the dash, is enough; 'latest': the newest")
      .Required();
  coordinator_.AddTo(this->app(), kShowTimeout);
  AddFormat(format_, "output format; capture: the evidence itself, which 'rapideye diagnose' reads",
            {"text", "json", "html", "capture"});
}

absl::StatusOr<std::string> IncidentNamed(CoordinatorClient& client, const std::string& given) {
  if (IsWholeId(given)) return given;
  const bool newest = given == kNewest;
  const absl::StatusOr<v1::ListIncidentsReply> known = client.ListIncidents(newest ? 1 : 0);
  if (!known.ok()) return known.status();
  if (known->incidents().empty()) return absl::NotFoundError("there are no incidents yet");
  if (newest) return known->incidents(0).id();
  std::vector<std::string> ids;  // newest first, as they come
  std::vector<std::string> meant;
  for (const v1::IncidentSummary& incident : known->incidents()) {
    const std::string& id = incident.id();
    if (absl::StartsWithIgnoreCase(id, given) ||
        absl::StartsWithIgnoreCase(id.substr(id.find('-') + 1), given)) {
      meant.push_back(id);
    }
    ids.push_back(id);
  }
  if (meant.size() == 1) return meant.front();
  if (meant.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("'", Shown(given), "' begins ", meant.size(),
                                                   " incidents", Closest(given, meant),
                                                   " (see rapideye incidents)"));
  }
  return absl::NotFoundError(absl::StrCat("no incident begins with '", Shown(given), "'",
                                          Closest(given, ids), " (see rapideye incidents)"));
}

std::string ShowCommand::Suggestion(CoordinatorClient& client, const std::string& id) {
  const absl::StatusOr<v1::ListIncidentsReply> all = client.ListIncidents(0);
  if (!all.ok() || all->incidents().empty()) return "; see rapideye incidents";
  std::vector<std::string> ids;
  // Newest first, as they come.
  for (const v1::IncidentSummary& incident : all->incidents()) ids.push_back(incident.id());
  return absl::StrCat(Closest(id, ids), " (see rapideye incidents)");
}

void ShowCommand::TellState(CoordinatorClient& client, const std::string& id) {
  const absl::StatusOr<v1::ListIncidentsReply> all = client.ListIncidents(0);
  if (!all.ok()) return;
  for (const v1::IncidentSummary& incident : all->incidents()) {
    if (incident.id() != id) continue;
    if (incident.state() != v1::IncidentSummary::RECOVERED && !incident.has_acknowledged()) return;
    Complain(absl::StrCat("incident ", Shown(id), " is ", Shown(StateOf(incident))));
  }
}

int ShowCommand::Run() {
  if (format_ == "capture" && isatty(STDOUT_FILENO) != 0) {
    return Fail(absl::InvalidArgumentError(
        "--format=capture: is compressed, and not for a terminal; send it to a file: "
        "rapideye show ID --format=capture > ID.jsonl.gz"));
  }
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<std::string> id = IncidentNamed(*client, id_);
  if (!id.ok()) return Fail(id.status());
  const absl::StatusOr<ReceivedDocument> received = client->GetIncident(*id, FormOf(format_));
  if (absl::IsNotFound(received.status())) {
    return Fail(absl::NotFoundError(
        absl::StrCat(std::string(received.status().message()), Suggestion(*client, *id))));
  }
  if (!received.ok()) return Fail(received.status());
  if (!PrintDocument(received->document, format_)) return program::kExitFailure;
  if (format_ == "text") TellState(*client, *id);
  return program::kExitOk;
}

}  // namespace rapideye::cli
