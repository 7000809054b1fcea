#include "coordinator/cli/pause.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/table.h"
#include "proto/common/flags/command_line.h"
#include "proto/wire/json_writer.h"

namespace rapideye::cli {
namespace {

constexpr absl::Duration kPauseTimeout = absl::Seconds(10);

}  // namespace

std::string Caller() {
  std::array<char, 256> host{};
  const char* user = std::getenv("USER");
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return absl::StrCat(user != nullptr ? user : absl::StrCat("uid ", getuid()).c_str(), "@",
                      host.data());
}

PauseCommand::PauseCommand(CLI::App& app)
    : Command(
          app, "pause",
          "Suspend the watch over the job: nothing is raised while a debugger, a planned stop or "
          "a long save by hand lasts") {
  coordinator_.AddTo(this->app(), kPauseTimeout);
  program::AddFlag(this->app(), "for", for_,
                   "how long nothing is raised, at most 24h; replaces a pause that is in force")
      .TypeText("DURATION")
      .DefaultText("")
      .WithoutVariable();
  program::AddFlag(this->app(), "reason", reason_,
                   "why, for others; shown wherever the job's state is shown")
      .WithoutVariable();
  program::AddFlag(this->app(), "end", end_, "ends the pause that is in force").WithoutVariable();
  AddFormat(format_,
            "output format; json: one object, whose pause is absent once none is in force");
}

int PauseCommand::Run() {
  if (end_ == for_.has_value()) {
    Complain("pause: needs either --for=DURATION and --reason=TEXT, or --end");
    return program::kExitUsage;
  }
  if (for_.has_value() && (*for_ <= absl::ZeroDuration() || reason_.empty())) {
    Complain(reason_.empty() ? "--reason: must say why nothing is to be raised meanwhile"
                             : "--for: must be more than 0");
    return program::kExitUsage;
  }
  v1::PauseRequest request;
  request.set_duration_ms(absl::ToInt64Milliseconds(for_.value_or(absl::ZeroDuration())));
  request.set_reason(reason_);
  request.set_by(Caller());
  absl::StatusOr<CoordinatorClient> client = CoordinatorClient::Make(coordinator_);
  if (!client.ok()) return Fail(client.status());
  const absl::StatusOr<v1::PauseReply> reply = client->Pause(request);
  if (!reply.ok()) return Fail(reply.status());
  if (format_ == "json") {
    std::string json;
    wire::AppendJson(*reply, json);
    return PrintDocument(json + "\n", format_) ? program::kExitOk : program::kExitFailure;
  }
  const std::string text =
      reply->has_pause()
          ? absl::StrCat("The watch is paused for ",
                         absl::FormatDuration(absl::Milliseconds(reply->pause().left_ms())), ": ",
                         Shown(reply->pause().reason()), ". `rapideye pause --end` ends it.\n")
          : "The job is watched again.\n";
  return Print(text) ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
