#include "tests/fleet/postgres_server.h"

#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/fleet/database.h"

namespace rapideye::testing {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kPatience = absl::Minutes(1);

// Programs of the newest version that is installed; empty: none is.
std::string ProgramDirectory() {
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const fs::path programs = entry.path() / "bin";
    if (fs::exists(programs / "postgres", error)) found.push_back(programs);
  }
  return found.empty() ? "" : *std::max_element(found.begin(), found.end());
}

// Runs the command as nobody if this process is root; it ends with this process, in good order.
std::vector<std::string> Unprivileged(std::vector<std::string> command) {
  std::vector<std::string> whole = {"/usr/bin/setpriv", "--pdeathsig=QUIT"};
  if (geteuid() == 0) {
    whole.insert(whole.end(), {"--reuid=nobody", "--regid=nogroup", "--clear-groups"});
  }
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

// Output of a program, line by line, until the program says `awaited` or ends.
class Output {
 public:
  explicit Output(std::string awaited) : awaited_(std::move(awaited)) {}

  void Add(absl::string_view line) {
    const std::lock_guard lock(mutex_);
    absl::StrAppend(&text_, line, "\n");
    said_ = said_ || absl::StrContains(line, awaited_);
    changed_.notify_all();
  }
  bool Await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, absl::ToChronoSeconds(kPatience), [this] { return said_; });
  }
  std::string Text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  const std::string awaited_;
  std::string text_;
  bool said_ = false;
};

}  // namespace

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  static const absl::Status made = server.Make();
  if (!made.ok()) {
    std::cerr << made << '\n';
    exit(1);
  }
  return server;
}

absl::Status PostgresServer::Make() {
  const std::string programs = ProgramDirectory();
  if (programs.empty()) {
    return absl::NotFoundError(
        "PostgreSQL is not installed; run deploy/install-dependencies.sh test");
  }
  std::string path = (fs::temp_directory_path() / "rapideye-postgresql-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return absl::UnavailableError("no temporary directory");
  directory_ = path;
  if (geteuid() == 0) {
    const passwd* nobody = getpwnam("nobody");
    if (nobody == nullptr || chown(path.c_str(), nobody->pw_uid, nobody->pw_gid) != 0) {
      return absl::UnavailableError("cannot give the server's directory to nobody");
    }
  }
  const auto output = std::make_shared<Output>("never awaited");
  auto made = testbed::ChildProcess::Spawn(
      {.command = Unprivileged({programs + "/initdb", "--pgdata=" + directory_ + "/data",
                                "--username=rapideye", "--auth=trust", "--no-sync",
                                "--encoding=UTF8", "--locale=C.UTF-8"}),
       .environment = {},
       .log_path = "",
       .on_line = [output](absl::string_view line) { output->Add(line); }});
  if (!made.ok()) return made.status();
  if ((*made)->Wait(kPatience) != 0) {
    return absl::UnavailableError(absl::StrCat("initdb failed: ", output->Text()));
  }
  return Start();
}

absl::Status PostgresServer::Start() {
  const auto output = std::make_shared<Output>("database system is ready to accept connections");
  auto process = testbed::ChildProcess::Spawn(
      {.command = Unprivileged({ProgramDirectory() + "/postgres", "-D", directory_ + "/data", "-k",
                                directory_, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                                "shared_buffers=16MB", "-c", "autovacuum=off"}),
       .environment = {{"LC_ALL", "C.UTF-8"}},
       .log_path = "",
       .on_line = [output](absl::string_view line) { output->Add(line); }});
  if (!process.ok()) return process.status();
  process_ = *std::move(process);
  if (!output->Await()) {
    return absl::UnavailableError(absl::StrCat("postgres does not start: ", output->Text()));
  }
  return absl::OkStatus();
}

void PostgresServer::Crash() {
  if (process_ == nullptr) return;
  process_->Signal(SIGQUIT);
  process_->Wait(kPatience);
  process_.reset();
}

PostgresServer::~PostgresServer() {
  Crash();
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

std::string PostgresServer::Url(const std::string& database) const {
  return absl::StrCat("postgresql://rapideye@", absl::StrReplaceAll(directory_, {{"/", "%2F"}}),
                      "/", database);
}

absl::StatusOr<std::string> PostgresServer::NewDatabase() {
  auto database = coordinator::OpenDatabase(Url("postgres"));
  if (!database.ok()) return database.status();
  const std::string name = absl::StrCat("test", ++databases_);
  auto rows = (*database)->Run(absl::StrCat("CREATE DATABASE ", name));
  if (!rows.ok()) return rows.status();
  return Url(name);
}

}  // namespace rapideye::testing
