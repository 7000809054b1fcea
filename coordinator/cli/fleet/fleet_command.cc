#include "coordinator/cli/fleet/fleet_command.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "coordinator/cli/suggest.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/limits.h"
#include "coordinator/fleet/records/fleet_clock.h"
#include "coordinator/fleet/reports.h"
#include "coordinator/fleet/schema.h"
#include "coordinator/removal/removal_flags.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::cli {
namespace {

// Names that are searched for suggestions.
constexpr size_t kMaxKnownNames = 10'000;

}  // namespace

std::vector<std::string> CallersEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

absl::StatusOr<Fleet> Fleet::Open(const std::string& url) {
  if (url.empty()) {
    return absl::InvalidArgumentError(
        "where is the fleet history? Give --fleet-db=sqlite:PATH (a coordinator's own is fleet.db "
        "in its state directory) or --fleet-db=postgresql://USER@HOST/DATABASE");
  }
  auto database = coordinator::OpenDatabase(url, coordinator::IfMissing::kFail);
  if (absl::IsNotFound(database.status()) || absl::IsInvalidArgument(database.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fleet-db: ", std::string(database.status().message())));
  }
  if (!database.ok()) return database.status();
  Fleet fleet(*std::move(database));
  if (absl::Status status = coordinator::CheckSchema(fleet.database()); !status.ok()) {
    return status;
  }
  const absl::StatusOr<absl::Time> wall = fleet.database().WallClock();
  if (!wall.ok()) return wall.status();
  const absl::StatusOr<absl::Time> newest =
      fleet.history().Newest(*wall + coordinator::kLargestClockError);
  if (!newest.ok()) return newest.status();
  fleet.now_ = coordinator::FleetClock(*wall, *newest, absl::ZeroDuration()).At({});
  return fleet;
}

absl::StatusOr<std::vector<std::string>> Fleet::MachinesNamed(const std::string& name) {
  auto machines = coordinator::MachinesNamed(database(), name);
  if (!machines.ok() || !machines->empty()) return machines;
  const auto known = coordinator::KnownNames(database(), kMaxKnownNames);
  if (!known.ok()) return known.status();
  return absl::NotFoundError(absl::StrCat("no incident in ", database().Name(),
                                          " names a machine '", Shown(name), "'",
                                          Closest(name, *known)));
}

absl::StatusOr<std::string> Fleet::MachineNamed(const std::string& name) {
  const auto machines = MachinesNamed(name);
  if (!machines.ok()) return machines.status();
  if (machines->size() == 1) return machines->front();
  return absl::InvalidArgumentError(
      absl::StrCat("several machines have borne the name '", Shown(name), "': say which one: ",
                   absl::StrJoin(*machines, ", ", [](std::string* out, const std::string& machine) {
                     absl::StrAppend(out, Shown(machine));
                   })));
}

FleetCommand::FleetCommand(CLI::App& fleet, const std::string& name, const std::string& help)
    : Command(fleet, name, help) {
  coordinator::AddFleetDbFlag(app(), fleet_db_, "(must exist)");
  AddFormat(format_, "output format; json: one object per line");
}

int FleetCommand::Run() {
  const Progress progress("asking the fleet history");
  absl::StatusOr<Fleet> fleet = Fleet::Open(fleet_db_);
  if (!fleet.ok()) return Fail(fleet.status());
  const absl::StatusOr<std::string> answer = Answer(*fleet);
  if (!answer.ok()) return Fail(answer.status());
  return Print(*answer) ? program::kExitOk : program::kExitFailure;
}

void Author::AddTo(CLI::App& app) {
  program::AddFlag(app, "who", who_,
                   "name of the operator, recorded with the change (else the current user)");
}

absl::StatusOr<std::string> Author::Name() const {
  if (!who_.empty()) return who_;
  for (const char* variable : {"SUDO_USER", "USER"}) {
    const char* name = std::getenv(variable);
    if (name != nullptr && *name != '\0') return name;
  }
  const passwd* user = getpwuid(geteuid());
  if (user != nullptr && user->pw_name != nullptr) return user->pw_name;
  return absl::InvalidArgumentError("the history records who does this: give --who=NAME");
}

std::string ShownTime(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string JsonTime(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string ShownSentence(const std::string& text) {
  return text::EscapeText(text, coordinator::kMaxHistorySentence);
}

}  // namespace rapideye::cli
