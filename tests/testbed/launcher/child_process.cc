#include "tests/testbed/launcher/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace rapideye::testbed {
namespace {

constexpr int kCannotExecute = 127;  // as a shell says it
constexpr absl::Duration kWaitStep = absl::Milliseconds(5);

// Whether the kernel says that the process catches the signal; false for a process that is gone.
bool Catches(pid_t pid, int signal) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    constexpr absl::string_view kCaught = "SigCgt:\t";
    if (!absl::StartsWith(line, kCaught)) continue;
    return (std::strtoull(line.c_str() + kCaught.size(), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (!added.contains(variable.substr(0, variable.find('=')))) variables.push_back(variable);
  }
  for (const auto& [name, value] : added) variables.push_back(absl::StrCat(name, "=", value));
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void Become(char* const* argv, char* const* envp, int input, int output,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotExecute);  // it died before the line above
  setpgid(0, 0);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  execve(argv[0], argv, envp);
  _exit(kCannotExecute);
}

// Returns when nobody can write to the pipe any more, and closes it. Until a child has executed its
// program it has the signal handlers of this process, which would take a signal meant for it.
void AwaitEndOfFile(int pipe) {
  char byte = 0;
  ssize_t count = 0;
  do count = read(pipe, &byte, 1);
  while (count > 0 || (count < 0 && errno == EINTR));
  close(pipe);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Spawn(Options options) {
  std::unique_ptr<ChildProcess> child(new ChildProcess());
  child->name_ = options.command.front().substr(options.command.front().rfind('/') + 1);
  child->on_line_ = std::move(options.on_line);
  options.command.insert(options.command.begin(), options.within.begin(), options.within.end());
  std::vector<std::string> variables = Environment(options.environment);
  const std::vector<char*> argv = Pointers(options.command);
  const std::vector<char*> envp = Pointers(variables);
  int input[2];
  int output[2];
  int executed[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 ||
      pipe2(executed, O_CLOEXEC) != 0) {
    return absl::UnavailableError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  child->pid_ = fork();
  if (child->pid_ == 0) Become(argv.data(), envp.data(), input[0], output[1], parent);
  close(input[0]);
  close(output[1]);
  close(executed[1]);
  AwaitEndOfFile(executed[0]);
  child->input_ = input[1];
  if (child->pid_ < 0) {
    close(output[0]);
    return absl::UnavailableError(
        absl::StrCat("cannot start ", options.command.front(), ": ", std::strerror(errno)));
  }
  setpgid(child->pid_, child->pid_);  // whichever of the two comes first
  child->reader_ = std::thread(
      [child = child.get(), fd = output[0], log = options.log_path] { child->Read(fd, log); });
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !status_.has_value()) Stop(absl::ZeroDuration());
  CloseInput();
  if (reader_.joinable()) reader_.join();
}

bool ChildProcess::WriteLine(absl::string_view line) {
  const std::lock_guard lock(writing_);
  if (input_ < 0) return false;
  const std::string text = absl::StrCat(line, "\n");
  return write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void ChildProcess::CloseInput() {
  const std::lock_guard lock(writing_);
  if (input_ >= 0) close(std::exchange(input_, -1));
}

void ChildProcess::Signal(int signal) {
  if (!status_.has_value()) kill(-pid_, signal);
}

std::optional<int> ChildProcess::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!status_.has_value()) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = status;
      break;
    }
    if (absl::Now() >= deadline) return std::nullopt;
    absl::SleepFor(kWaitStep);
  }
  if (reader_.joinable()) reader_.join();
  return status_;
}

void ChildProcess::AwaitCatching(int signal, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!Catches(pid_, signal) && !Wait(absl::ZeroDuration()).has_value() &&
         absl::Now() < deadline) {
    absl::SleepFor(kWaitStep);
  }
}

int ChildProcess::Stop(absl::Duration patience) {
  CloseInput();
  if (patience > absl::ZeroDuration()) {
    Signal(SIGTERM);
    if (const std::optional<int> status = Wait(patience)) return *status;
  }
  Signal(SIGKILL);
  return Wait(absl::InfiniteDuration()).value_or(0);
}

void ChildProcess::Read(int output, const std::string& log_path) {
  FILE* stream = fdopen(output, "r");
  FILE* log = log_path.empty() ? nullptr : std::fopen(log_path.c_str(), "ae");
  char* line = nullptr;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&line, &capacity, stream)) > 0;) {
    if (log != nullptr) {
      std::fwrite(line, 1, static_cast<size_t>(length), log);
      std::fflush(log);
    }
    if (line[length - 1] == '\n') --length;
    if (on_line_) on_line_(absl::string_view(line, static_cast<size_t>(length)));
  }
  std::free(line);
  if (log != nullptr) std::fclose(log);
  std::fclose(stream);
}

absl::StatusOr<std::string> OutputOf(std::vector<std::string> command, absl::Duration timeout) {
  std::string output;  // of the reading thread until the end
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Spawn(
      {.command = std::move(command),
       .environment = {},
       .log_path = "",
       .on_line = [&output](absl::string_view line) { absl::StrAppend(&output, line, "\n"); }});
  if (!child.ok()) return child.status();
  std::optional<int> status = (*child)->Wait(timeout);
  if (!status.has_value()) status = (*child)->Stop(absl::ZeroDuration());
  if (*status == 0) return output;
  return absl::AbortedError(
      absl::StrCat((*child)->name(), " ", DescribeExit(*status), ": ", output));
}

std::string DescribeExit(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was killed by signal ", WTERMSIG(status));
  return absl::StrCat("exited with ", WEXITSTATUS(status));
}

}  // namespace rapideye::testbed
