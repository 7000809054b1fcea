// rapideye: the operator's command. One file per command.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "digest/cli/diagnose.h"
#include "digest/cli/incidents.h"
#include "digest/cli/logs.h"
#include "digest/cli/output.h"
#include "digest/cli/show.h"
#include "digest/cli/snapshot.h"
#include "digest/cli/status.h"
#include "proto/program/command_line.h"
#include "proto/program/logging.h"

namespace rapideye::cli {
namespace {

int Run(int argc, char** argv) {
  CLI::App app("rapideye finds out why a multi-slice TPU training job hangs.", "rapideye");
  app.require_subcommand(1);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<StatusCommand>(app));
  commands.push_back(std::make_unique<SnapshotCommand>(app));
  commands.push_back(std::make_unique<IncidentsCommand>(app));
  commands.push_back(std::make_unique<ShowCommand>(app));
  commands.push_back(std::make_unique<Diagnose>(app));
  commands.push_back(std::make_unique<LogsCommand>(app));
  std::string log_format = "text";
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    program::AddFlag(*command, "log-format", log_format, "of errors on standard error")
        ->check(CLI::IsMember({"text", "json"}));
  }
  program::ConfigureApp(app);
  const auto is_named = [&](CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    Complain(absl::StrCat("there is no command '", absl::Utf8SafeCEscape(argv[1]),
                          "'; rapideye --help lists them"));
    return program::kExitUsage;
  }
  if (const std::optional<int> exit_status = program::Parse(app, argc, argv)) return *exit_status;

  const bool json = log_format == "json";
  program::SetUpLogging("rapideye", json ? program::LogFormat::kJson : program::LogFormat::kText);
  // What libraries warn of, our own errors say better.
  spdlog::set_level(spdlog::level::err);
  SetComplaintFormat(json);
  for (const std::unique_ptr<Command>& command : commands) {
    if (command->Chosen()) return command->Run();
  }
  return program::kExitUsage;
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
