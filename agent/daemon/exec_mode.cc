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
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "agent/daemon/agent.h"
#include "agent/exec/limits.h"

namespace rapideye::agent {
namespace {

// Standard error if there is nowhere else: an agent that cannot complain is worse than
// lines of it among those of the command.
int OpenLog(const Flags& flags, const std::string& name) {
  const bool no_directory = flags.state_dir.empty() || flags.state_dir == "off";
  if (flags.exec_log == "stderr" || (flags.exec_log.empty() && no_directory)) return STDERR_FILENO;
  std::error_code error;
  if (flags.exec_log.empty()) std::filesystem::create_directories(flags.state_dir, error);
  const std::string path =
      flags.exec_log.empty() ? absl::StrCat(flags.state_dir, "/", name) : flags.exec_log;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > kMaxExecLogBytes) {
    std::filesystem::rename(path, path + ".1", error);
  }
  constexpr mode_t kMode = 0640;
  const int log = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kMode);
  if (log >= 0) return log;
  std::fprintf(stderr, "rapideye-agent exec: %s: %s; the agent logs here\n", path.c_str(),
               std::strerror(errno));
  return STDERR_FILENO;
}

int ToTimeout(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

}  // namespace

int RunCommand(const Flags& flags, const std::string& problem, const std::string& log_name,
               const std::function<int(const CommandWatch&)>& watch) {
  if (!problem.empty()) {
    std::fprintf(stderr, "rapideye-agent exec: %s\nrapideye-agent exec: %s runs unwatched\n",
                 problem.c_str(), flags.command.front().c_str());
  }
  ExecOptions options;
  options.command = flags.command;
  options.agent = watch;
  options.log = OpenLog(flags, log_name);
  return Exec(options);
}

void LetSourcesKnow(const CommandWatch& command, Flags& flags) {
  flags.host.command = command.pid;
  if (flags.host.disabled.contains(TrainingLogSource::kName)) return;
  flags.logs.outputs = command.outputs;
  flags.logs.wake = command.wake;
  flags.logs.told_to_end = command.told_to_end;
}

void AwaitEnd(const CommandWatch& command, const Agent& agent,
              const program::StopSignals& signals) {
  // One that is not there any more has ended.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, command.pid, 0));
  if (process >= 0) {
    std::array<pollfd, 2> waiting = {{{signals.fd(), POLLIN, 0}, {process, POLLIN, 0}}};
    while (poll(waiting.data(), waiting.size(), /*timeout=*/-1) < 0 && errno == EINTR) continue;
    close(process);
    if (waiting[0].revents != 0) return;
  }
  const absl::Duration patience =
      command.told_to_end->load() != 0 ? kLastWordsIfTold : kLastWordsFor;
  std::array<pollfd, 2> waiting = {{{signals.fd(), POLLIN, 0}, {agent.last_words_fd(), POLLIN, 0}}};
  poll(waiting.data(), waiting.size(), ToTimeout(patience));
}

}  // namespace rapideye::agent
