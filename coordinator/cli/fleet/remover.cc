#include "coordinator/cli/fleet/remover.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/cli/fleet/fleet_command.h"
#include "coordinator/cli/output.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/database.h"
#include "coordinator/removal/hooks/process_hook_runner.h"
#include "coordinator/removal/removal_loop.h"
#include "coordinator/removal/remover_pages.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/process/signals.h"
#include "proto/common/worker/thread.h"

namespace rapideye::cli {
namespace {

using coordinator::NotingHookRunner;
using coordinator::ProcessHookRunner;
using coordinator::RemovalFlags;
using coordinator::RemovalLoop;
using coordinator::RemoverPages;

// Stops the loop and its hook at a signal, for as long as this object lives.
class StopAtSignal {
 public:
  StopAtSignal(program::StopSignals& signals, RemovalLoop& loop, ProcessHookRunner& runner)
      : over_(eventfd(0, EFD_CLOEXEC)), thread_([this, &signals, &loop, &runner] {
          pollfd ends[] = {
              {signals.fd(), POLLIN, 0}, {over_, POLLIN, 0}, {signals.hangup_fd(), POLLIN, 0}};
          while (poll(ends, 3, -1) < 0 || (ends[0].revents | ends[1].revents) == 0) {
            signals.HandleHangup();
          }
          if (ends[0].revents == 0) return;
          loop.Stop();
          runner.Stop();
        }) {}
  ~StopAtSignal() {
    eventfd_write(over_, 1);
    thread_.Join();
    close(over_);
  }
  StopAtSignal(const StopAtSignal&) = delete;
  StopAtSignal& operator=(const StopAtSignal&) = delete;

 private:
  const int over_;
  Thread thread_;
};

// The history's name in the log; INVALID_ARGUMENT if no history can have this address. A history
// that is down, or not made yet, is waited for.
absl::StatusOr<std::string> HistoryName(const std::string& url) {
  if (url.empty()) {
    return absl::InvalidArgumentError(
        "--fleet-db: which history is to be watched? Give the one that the coordinators of the "
        "fleet write to: postgresql://USER@HOST/DATABASE, or sqlite:PATH on their machine");
  }
  const auto database = coordinator::OpenDatabase(url, coordinator::IfMissing::kFail);
  if (absl::IsInvalidArgument(database.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fleet-db: ", std::string(database.status().message())));
  }
  return database.ok() ? (*database)->Name() : url;  // a file's
}

RemovalLoop::Settings SettingsOf(const RemovalFlags& flags, RemoverPages& pages) {
  RemovalLoop::Settings settings;
  settings.fleet_db = flags.fleet_db;
  settings.policy = flags.policy;
  settings.tenant_machines = flags.tenant_machines;
  settings.hooks = flags.hooks;
  settings.hook_timeout = flags.hook_timeout;
  settings.before_turn = [&pages] { pages.NoteLife(); };
  settings.after_turn = [&pages](coordinator::Database*, const auto& turn) {
    pages.NoteTurn(turn);
    return absl::InfiniteDuration();
  };
  return settings;
}

}  // namespace

RemoverCommand::RemoverCommand(CLI::App& app)
    : Command(app, "remover",
              "Decide and carry out removals for all jobs that share a fleet history") {
  coordinator::AddFleetDbFlag(this->app(), flags_.fleet_db,
                              "(the one that the coordinators write to)");
  coordinator::AddRemovalFlags(this->app(), flags_);
  program::AddFlag(this->app(), "once", once_,
                   "decides and carries out what is due, then exits; for cron");
  program::AddFlag(this->app(), "http", http_,
                   "ADDRESS:PORT of /metrics (Prometheus), /healthz and /readyz, or off; any "
                   "address but loopback needs --insecure, because it has no TLS; not with --once");
  program::AddFlag(this->app(), "insecure", insecure_,
                   "allows --http, which has no TLS, on an address that is not loopback");
}

absl::StatusOr<std::unique_ptr<http::HttpServer>> RemoverCommand::Serve(
    const RemoverPages& pages) const {
  if (http_ == "off" || once_) return nullptr;
  auto server = http::HttpServer::Start(
      {.address = http_, .insecure = insecure_},
      [&pages](const http::Request& request) { return pages.Answer(request); });
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("--http: ", std::string(server.status().message())));
  }
  spdlog::info("metrics at http://{}/metrics", (*server)->address());
  return server;
}

int RemoverCommand::Run() {
  const absl::StatusOr<std::string> name = HistoryName(flags_.fleet_db);
  if (!name.ok()) return Fail(name.status());
  if (absl::Status status = coordinator::CheckRemoval(flags_); !status.ok()) return Fail(status);
  absl::StatusOr<program::StopSignals> signals = program::StopSignals::Catch();
  if (!signals.ok()) return Fail(signals.status());
  // No reload is needed: hooks are read whenever they are run.
  const auto reload = [] { spdlog::info("SIGHUP: hooks are read again when they are run"); };
  if (absl::Status status = signals->OnHangup(reload); !status.ok()) return Fail(status);

  // A daemon logs its actions; the other commands log only errors.
  spdlog::set_level(spdlog::level::info);
  spdlog::info("removals ({}) by fleet history {}, hooks: {}", flags_.removal, *name,
               flags_.hooks.empty() ? "none" : absl::StrJoin(flags_.hooks, ", "));
  ProcessHookRunner runner({.timeout = flags_.hook_timeout,
                            .grace = coordinator::kHookGrace,
                            .max_output = coordinator::kMaxHookOutput},
                           CallersEnvironment(), "remover");
  RemoverPages pages({.mode = flags_.policy.mode, .hook_timeout = flags_.hook_timeout});
  NotingHookRunner noting(runner, pages);
  RemovalLoop loop(SettingsOf(flags_, pages), noting);
  const auto server = Serve(pages);
  if (!server.ok()) return Fail(server.status());
  const StopAtSignal stopper(*signals, loop, runner);
  if (!once_) {
    loop.Run();
    spdlog::info("ended");
    return program::kExitOk;
  }
  const auto turn = loop.Turn();
  if (!turn.ok()) return Fail(turn.status());
  const bool failed = !turn->retried.empty() ||
                      std::any_of(turn->ended.begin(), turn->ended.end(),
                                  [](const auto& task) { return task.state == "failed"; });
  return failed ? program::kExitFailure : program::kExitOk;
}

}  // namespace rapideye::cli
