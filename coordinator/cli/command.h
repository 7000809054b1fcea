// What every command of rapideye is.
#ifndef RAPIDEYE_COORDINATOR_CLI_COMMAND_H_
#define RAPIDEYE_COORDINATOR_CLI_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

namespace rapideye::cli {

class Command {
 public:
  // Adds the command to `app`, which outlives it.
  Command(CLI::App& app, const std::string& name, const std::string& help)
      : app_(*app.add_subcommand(name, help)) {}
  virtual ~Command() = default;

  // True if the command line names this one.
  bool Chosen() const { return app_.parsed(); }
  // Does the work; returns the program's exit status. What went wrong has been
  // complained about.
  virtual int Run() = 0;

 protected:
  CLI::App& app() { return app_; }

 private:
  CLI::App& app_;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_COMMAND_H_
