// Command is the base of every command of rapideye.
#ifndef RAPIDEYE_COORDINATOR_CLI_COMMAND_H_
#define RAPIDEYE_COORDINATOR_CLI_COMMAND_H_

#include <string>
#include <vector>

#include "proto/common/flags/command_line.h"

namespace rapideye::cli {

class Command {
 public:
  // Adds the command to `app`, which outlives it.
  Command(CLI::App& app, const std::string& name, const std::string& help)
      : app_(program::AddCommand(app, name, help)) {}
  virtual ~Command() = default;

  // True if the command line names this command.
  bool Chosen() const { return program::Chosen(app_); }
  // Does the work; returns the program's exit status. Errors have been written to
  // standard error by then.
  virtual int Run() = 0;

 protected:
  CLI::App& app() { return app_; }
  // Adds --format, and --json for --format=json; `help` says what the formats are.
  void AddFormat(std::string& format, const std::string& help,
                 const std::vector<std::string>& formats = {"text", "json"}) {
    program::AddFlag(app_, "format", format, help).Among(formats);
    program::AddShortcut(app_, "json", format, "json", "the same as --format=json");
  }

 private:
  CLI::App& app_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_COMMAND_H_
