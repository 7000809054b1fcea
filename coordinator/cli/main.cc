// rapideye: the operator's command. One file per command.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "coordinator/cli/acknowledge.h"
#include "coordinator/cli/diagnose.h"
#include "coordinator/cli/doctor/doctor.h"
#include "coordinator/cli/fleet/fleet_commands.h"
#include "coordinator/cli/fleet/hook_trial.h"
#include "coordinator/cli/fleet/remover.h"
#include "coordinator/cli/hlo.h"
#include "coordinator/cli/incidents.h"
#include "coordinator/cli/logs.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/pause.h"
#include "coordinator/cli/redact.h"
#include "coordinator/cli/show.h"
#include "coordinator/cli/snapshot.h"
#include "coordinator/cli/status.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/logging/logging.h"
#include "proto/common/text/likeness.h"
#include "proto/wire/messages.h"

namespace rapideye::cli {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

Commands AllCommands(CLI::App& app) {
  Commands commands;
  commands.push_back(std::make_unique<StatusCommand>(app));
  commands.push_back(std::make_unique<SnapshotCommand>(app));
  commands.push_back(std::make_unique<IncidentsCommand>(app));
  commands.push_back(std::make_unique<ShowCommand>(app));
  commands.push_back(std::make_unique<PauseCommand>(app));
  commands.push_back(std::make_unique<AcknowledgeCommand>(app));
  commands.push_back(std::make_unique<Diagnose>(app));
  commands.push_back(std::make_unique<DoctorCommand>(app));
  commands.push_back(std::make_unique<RedactCommand>(app));
  commands.push_back(std::make_unique<LogsCommand>(app));
  commands.push_back(std::make_unique<HloCommand>(app));
  for (std::unique_ptr<Command>& command : FleetCommands(app)) {
    commands.push_back(std::move(command));
  }
  commands.push_back(std::make_unique<RemoverCommand>(app));
  commands.push_back(std::make_unique<HookTestCommand>(app));
  return commands;
}

// Adds the flag to every command that does work itself.
void AddLogFormat(CLI::App& app, std::string& log_format) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (!command->get_subcommands([](CLI::App*) { return true; }).empty()) {
      AddLogFormat(*command, log_format);
      continue;
    }
    program::AddFlag(*command, "log-format", log_format,
                     "format of errors on standard error; json: one object per line")
        .Among({"text", "json"});
  }
}

// A word that is no command and stands where a command's name should; nullopt: there is none.
std::optional<std::string> UnknownCommand(CLI::App& app, int argc, char** argv) {
  CLI::App* at = &app;
  std::string called = app.get_name();
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    if (at->get_subcommands([](CLI::App*) { return true; }).empty()) break;
    const auto named =
        at->get_subcommands([&](CLI::App* command) { return command->check_name(argv[i]); });
    if (named.empty()) {
      std::vector<std::string> known;
      for (const CLI::App* command : at->get_subcommands([](CLI::App*) { return true; })) {
        known.push_back(command->get_name());
      }
      const std::string meant = text::ProbablyMeant(argv[i], known);
      return absl::StrCat("there is no command '", absl::Utf8SafeCEscape(argv[i]), "'; ",
                          meant.empty() ? "" : absl::StrCat("did you mean '", meant, "'? "), called,
                          " --help lists them");
    }
    at = named.front();
    absl::StrAppend(&called, " ", at->get_name());
  }
  return std::nullopt;
}

// `rapideye help` and `rapideye help COMMAND…` are --help, `rapideye version` is --version: the
// words that other tools take.
std::vector<char*> AsFlags(int argc, char** argv) {
  static char help[] = "--help";
  static char version[] = "--version";
  std::vector<char*> words(argv, argv + argc);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "help") {
    words.erase(words.begin() + 1);
    words.push_back(help);
  } else if (first == "version" && argc == 2) {
    words[1] = version;
  }
  return words;
}

int Run(int given_count, char** given) {
  std::vector<char*> words = AsFlags(given_count, given);
  const int argc = static_cast<int>(words.size());
  char** argv = words.data();
  CLI::App app("rapideye finds out why a multi-slice TPU training job hangs.", "rapideye");
  app.require_subcommand(1);
  const Commands commands = AllCommands(app);
  std::string log_format = "text";
  AddLogFormat(app, log_format);
  program::ConfigureApp(app, wire::kProtocolVersion);
  if (const std::optional<std::string> problem = UnknownCommand(app, argc, argv)) {
    Complain(*problem);
    return program::kExitUsage;
  }
  if (const std::optional<int> exit_status = program::Parse(app, argc, argv)) return *exit_status;

  const bool json = log_format == "json";
  program::SetUpLogging("rapideye", json ? program::LogFormat::kJson : program::LogFormat::kText);
  // The command's own errors are clearer than the warnings of libraries.
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
