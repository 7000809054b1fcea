#include "coordinator/cli/acknowledge.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/pause.h"
#include "coordinator/cli/show.h"
#include "coordinator/cli/table.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"
#include "proto/wire/json_writer.h"

namespace rapideye::cli {
namespace {

// The coordinator answers once its disk has the acknowledgement.
constexpr absl::Duration kAcknowledgeTimeout = absl::Seconds(30);

}  // namespace

AcknowledgeCommand::AcknowledgeCommand(CLI::App& app)
    : Command(app, "acknowledge",
              "Say that you take care of an incident: hooks do not run again when its verdict "
              "changes, only when the job recovers") {
  program::AddArgument(this->app(), "ID", id_,
                       "Id of an incident, as 'rapideye incidents' lists it; the beginning of its "
                       "date, or of the part after the dash, is enough; 'latest': the newest")
      .Required();
  coordinator_.AddTo(this->app(), kAcknowledgeTimeout);
  program::AddFlag(
      this->app(), "reason", reason_,
      "note for others, such as who works on it; shown wherever the incident is listed")
      .WithoutVariable();
  AddFormat(format_, "output format; json: one object");
}

int AcknowledgeCommand::Run() {
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<std::string> id = IncidentNamed(*client, id_);
  if (!id.ok()) return Fail(id.status());
  v1::AcknowledgeRequest request;
  request.set_id(*id);
  request.set_reason(reason_);
  request.set_by(Caller());
  const absl::StatusOr<v1::AcknowledgeReply> reply = client->Acknowledge(request);
  if (!reply.ok()) return Fail(reply.status());
  if (format_ == "json") {
    std::string acknowledged;
    wire::AppendJson(reply->acknowledged(), acknowledged);
    const nlohmann::ordered_json json = {
        {"incidentId", *id}, {"acknowledged", nlohmann::ordered_json::parse(acknowledged)}};
    return PrintDocument(digest::Dump(json, /*pretty=*/false) + "\n", format_)
               ? program::kExitOk
               : program::kExitFailure;
  }
  const std::string text = absl::StrCat("Incident ", Shown(*id), " is acknowledged by ",
                                        Shown(reply->acknowledged().by()), ".\n");
  return Print(text) ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
