// FleetCommand is the base of the commands of `rapideye fleet`: it opens a fleet history once.
#ifndef RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMAND_H_
#define RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/cli/command.h"
#include "coordinator/fleet/database.h"
#include "coordinator/fleet/history.h"
#include "proto/common/text/count.h"

namespace rapideye::cli {

// A history that exists already, and has this program's version.
class Fleet {
 public:
  // INVALID_ARGUMENT if `url` names no database; other errors are those of Database and
  // CheckSchema.
  static absl::StatusOr<Fleet> Open(const std::string& url);

  coordinator::Database& database() { return *database_; }
  coordinator::History& history() { return history_; }
  // The history's clock when the history was opened.
  absl::Time now() const { return now_; }

  // The machine that bears `name`: a host, a node, hardware, or a machine's key. NOT_FOUND names
  // machines with a similar name, INVALID_ARGUMENT the machines that share this one.
  absl::StatusOr<std::string> MachineNamed(const std::string& name);
  // Like MachineNamed, but returns all machines that bear the name.
  absl::StatusOr<std::vector<std::string>> MachinesNamed(const std::string& name);

 private:
  explicit Fleet(std::unique_ptr<coordinator::Database> database)
      : database_(std::move(database)), history_(*database_) {}

  std::unique_ptr<coordinator::Database> database_;
  coordinator::History history_;
  absl::Time now_;
};

class FleetCommand : public Command {
 public:
  // Returns 0; 2 if an argument is wrong, 1 if the history cannot be asked or does not know the
  // subject of the question.
  int Run() final;

 protected:
  // Adds the command to `fleet`, with --fleet-db and --format.
  FleetCommand(CLI::App& fleet, const std::string& name, const std::string& help);

  // Returns the text for standard output.
  virtual absl::StatusOr<std::string> Answer(Fleet& fleet) = 0;
  bool json() const { return format_ == "json"; }

 private:
  std::string fleet_db_;
  std::string format_ = "text";
};

// The person who runs a command that changes something.
class Author {
 public:
  void AddTo(CLI::App& app);
  // The name of --who, otherwise of the current user, also under sudo. INVALID_ARGUMENT: not known.
  absl::StatusOr<std::string> Name() const;

 private:
  std::string who_;
};

// The environment of this process, NAME=VALUE.
std::vector<std::string> CallersEnvironment();

// A time such as "2026-11-20T12:44:19Z".
std::string ShownTime(absl::Time time);
// A time with milliseconds, for programs.
std::string JsonTime(absl::Time time);
// A sentence of the history in one line.
std::string ShownSentence(const std::string& text);
using text::Count;

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_FLEET_FLEET_COMMAND_H_
