#include "agent/sources/stacks/fetch_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  int read = -1;
  int write = -1;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void CloseWrite() {
    if (write >= 0) close(std::exchange(write, -1));
  }
  ~Pipe() {
    CloseWrite();
    if (read >= 0) close(read);
  }
};

// 0, or errno.
int Spawn(const std::vector<std::string>& command, const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  const absl::Cleanup free_actions = [&] { posix_spawn_file_actions_destroy(&actions); };
  if (posix_spawnattr_init(&attributes) != 0) return ENOMEM;
  const absl::Cleanup free_attributes = [&] { posix_spawnattr_destroy(&attributes); };
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // A group of its own, which can be killed as a whole. If nobody reads any more, its
  // writes fail and it goes on: it may hold the process that it looks at.
  sigset_t blocked;
  sigset_t all;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGPIPE);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  // No DEBUGINFOD_URLS, above all: symbols are not fetched from anywhere.
  std::array<char*, 2> environment = {const_cast<char*>("LC_ALL=C"), nullptr};
  return posix_spawn(&pid, command.front().c_str(), &actions, &attributes, arguments.data(),
                     environment.data());
}

// False once there is no more to come.
bool ReadSome(int descriptor, std::string& text) {
  std::array<char, 16 * 1024> buffer;
  const ssize_t n = read(descriptor, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR;
  text.append(buffer.data(), static_cast<size_t>(n));
  return n > 0;
}

// Until both ends are closed; false: it has to be killed.
bool ReadAll(int out, int err, int cancel, SteadyClock::time_point end, size_t max_bytes,
             ToolRun& run) {
  std::array<pollfd, 3> waiting = {{{out, POLLIN, 0}, {err, POLLIN, 0}, {cancel, POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now()).count();
    run.in_time = left > 0;
    if (!run.in_time) return false;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) < 0 && errno != EINTR) {
      return false;
    }
    if (waiting[2].revents != 0) return false;
    if (waiting[0].revents != 0 && !ReadSome(out, run.output)) waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !ReadSome(err, run.error)) waiting[1].fd = -1;
    if (run.error.size() > 2 * kMaxDetailBytes) run.error.erase(0, run.error.size() / 2);
    if (run.output.size() > max_bytes) {
      run.output.resize(max_bytes);
      return false;
    }
  }
  return true;
}

// The last line says what went wrong.
std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  return lines.empty() ? "" : lines.back().substr(0, kMaxDetailBytes);
}

}  // namespace

ToolRun RunTool(const std::vector<std::string>& command, absl::Duration deadline, size_t max_bytes,
                int cancel) {
  const auto end = SteadyClock::now() + absl::ToChronoNanoseconds(deadline);
  ToolRun run;
  Pipe out;
  Pipe err;
  pid_t pid = -1;
  const int error = out.Open() && err.Open() ? Spawn(command, out, err, pid) : errno;
  if (error != 0) {
    run.error = std::strerror(error);
    return run;
  }
  const rlimit cpu = {kToolCpuSeconds, kToolCpuSeconds};
  prlimit(pid, RLIMIT_CPU, &cpu, nullptr);  // beyond our own end, too
  out.CloseWrite();
  err.CloseWrite();
  const bool ended = ReadAll(out.read, err.read, cancel, end, max_bytes, run);
  // One that has closed its output and lingers gets no more time.
  if (!ended) kill(-pid, SIGKILL);
  int status = 0;
  pid_t waited = ended ? waitpid(pid, &status, WNOHANG) : 0;
  while (ended && waited == 0 && SteadyClock::now() < end) {
    poll(nullptr, 0, 1);
    waited = waitpid(pid, &status, WNOHANG);
  }
  if (waited != pid) {
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  run.killed = WIFSIGNALED(status);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  run.error = LastLine(run.error);
  return run;
}

std::optional<std::string> FindTool(const std::string& name, const std::string& path) {
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string file = absl::StrCat(folder, "/", name);
    // A relative folder would be whatever we happen to stand in.
    if (folder.front() == '/' && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace rapideye::agent
