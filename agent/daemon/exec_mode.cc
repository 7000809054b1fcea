#include "agent/daemon/exec_mode.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "agent/daemon/agent.h"
#include "agent/exec/limits.h"
#include "proto/common/file/trusted_directory.h"

namespace rapideye::agent {
namespace {

// DIRECTORY and FILE; a path without a directory is of the working directory.
std::pair<std::string, std::string> Split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

absl::StatusOr<int> OpenLogIn(const file::TrustedDirectory& directory, const std::string& name) {
  constexpr mode_t kMode = 0640;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND;
  absl::StatusOr<int> log = directory.OpenFile(name, kFlags, kMode);
  struct stat status = {};
  if (!log.ok() || fstat(*log, &status) != 0 || status.st_size <= kMaxExecLogBytes) return log;
  const std::string old = name + ".1";
  if (renameat(directory.fd(), name.c_str(), directory.fd(), old.c_str()) != 0) return log;
  close(*log);
  return directory.OpenFile(name, kFlags, kMode);
}

int ToTimeout(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

}  // namespace

int OpenLog(const Flags& flags, const std::string& name) {
  const bool no_directory = flags.state_dir.empty() || flags.state_dir == "off";
  if (flags.exec_log == "stderr" || (flags.exec_log.empty() && no_directory)) return STDERR_FILENO;
  const auto [folder, file] =
      flags.exec_log.empty() ? std::pair(flags.state_dir, name) : Split(flags.exec_log);
  using IfMissing = file::TrustedDirectory::IfMissing;
  const auto directory = file::TrustedDirectory::Open(
      folder, flags.exec_log.empty() ? IfMissing::kCreate : IfMissing::kRefuse);
  const absl::StatusOr<int> log =
      directory.ok() ? OpenLogIn(*directory, file) : absl::StatusOr<int>(directory.status());
  if (log.ok()) return *log;
  std::fprintf(stderr,
               "rapideye-agent exec: %s; the agent logs here: give --exec-log or --state-dir in a "
               "directory that only this user can write\n",
               std::string(log.status().message()).c_str());
  return STDERR_FILENO;
}

void LogTo(int log) {
  dup2(log, STDERR_FILENO);
  dup2(log, STDOUT_FILENO);
}

void LetSourcesKnow(const CommandWatch& command, Flags& flags) {
  flags.host.command = command.pid;
  if (flags.host.disabled.contains(TrainingLogSource::kName)) return;
  flags.logs.outputs = command.outputs;
  flags.logs.wake = command.wake;
  flags.logs.told_to_end = command.told_to_end;
}

void AwaitEnd(const CommandWatch& command, const Agent& agent, program::StopSignals& signals) {
  // A descriptor of -1 is passed over.
  std::array<pollfd, 3> waiting = {
      {{signals.fd(), POLLIN, 0}, {signals.hangup_fd(), POLLIN, 0}, {-1, POLLIN, 0}}};
  // True: asked to stop.
  const auto wait = [&](int timeout) {
    int ready = 0;
    do {
      ready = poll(waiting.data(), waiting.size(), timeout);
      if (ready > 0) signals.HandleHangup();
    } while ((ready < 0 && errno == EINTR) ||
             (ready > 0 && waiting[0].revents == 0 && waiting[2].revents == 0));
    return ready > 0 && waiting[0].revents != 0;
  };
  // A command whose process is not there any more has ended.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, command.pid, 0));
  if (process >= 0) {
    waiting[2].fd = process;
    const bool stop = wait(/*timeout=*/-1);
    close(process);
    if (stop) return;
  }
  const absl::Duration patience =
      command.told_to_end->load() != 0 ? kFinalReportIfTold : kFinalReportFor;
  waiting[2].fd = agent.exit_fd();
  wait(ToTimeout(patience));
}

}  // namespace rapideye::agent
