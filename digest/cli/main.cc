// rapideye: the operator's command. One file per command.
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <optional>

#include "digest/cli/diagnose.h"
#include "digest/cli/output.h"
#include "proto/program/command_line.h"

namespace rapideye::cli {
namespace {

int Run(int argc, char** argv) {
  CLI::App app("rapideye finds out why a multi-slice TPU training job hangs.", "rapideye");
  program::ConfigureApp(app);
  app.require_subcommand(1);
  const Diagnose diagnose(app);
  if (const std::optional<int> exit_status = program::Parse(app, argc, argv)) return *exit_status;
  return diagnose.Run();
}

}  // namespace
}  // namespace rapideye::cli

int main(int argc, char** argv) {
  // A reader that has gone is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return rapideye::cli::Run(argc, argv);
  } catch (const std::exception& error) {
    rapideye::cli::Complain(error.what());
    return rapideye::program::kExitFailure;
  }
}
