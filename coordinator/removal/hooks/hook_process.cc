#include "coordinator/removal/hooks/hook_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/removal/hooks/bounded_output.h"

namespace rapideye::coordinator {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What the pipe holds when the hook has ended is read in so many turns at most: a
// process that escaped its group could write for ever.
constexpr int kLastReads = 32;
constexpr size_t kReadSize = 4096;
// One wait for the kernel, whose measure of it is an int of milliseconds.
constexpr std::chrono::milliseconds kLongestPoll = std::chrono::hours(1);

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string Reason(const char* what, int error) {
  return absl::StrCat(what, ": ", std::strerror(error));
}

// A file in memory with `input`, at its beginning: unlike a pipe it takes everything at
// once, whether or not anybody reads it.
Descriptor InputFile(const std::string& input, std::string& error) {
  Descriptor file(memfd_create("digest", MFD_CLOEXEC));
  for (size_t done = 0; file.get() >= 0 && done < input.size();) {
    const ssize_t n =
        pwrite(file.get(), input.data() + done, input.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      error = Reason("cannot hold the digest for it", errno);
      return Descriptor();
    }
    done += static_cast<size_t>(n);
  }
  if (file.get() < 0) error = Reason("cannot hold the digest for it", errno);
  return file;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or why not. The group's id is the process's.
int Spawn(const std::string& path, std::vector<std::string>& environment, int input, int output,
          pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  // Libraries may have opened what they did not mark as not to be inherited.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> command = {path};
  const int error = posix_spawn(&pid, path.c_str(), &files, &attributes, Pointers(command).data(),
                                Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Reads what is there. False at its end.
bool ReadSome(int fd, int turns, BoundedOutput& output) {
  char buffer[kReadSize];
  for (int i = 0; i < turns; ++i) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0) {
      output.Append({buffer, static_cast<size_t>(n)});
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
  return true;
}

// A process that was started, until it has been waited for.
class Running {
 public:
  Running(pid_t pid, Descriptor ended, Descriptor output, const HookLimits& limits)
      : pid_(pid), ended_(std::move(ended)), output_(std::move(output)), limits_(limits) {}

  HookOutcome Wait(int interrupt) {
    std::optional<HookOutcome::End> stopped;
    bool ended = WaitUntil(limits_.timeout, interrupt);
    if (!ended) {
      stopped = interrupted_ ? HookOutcome::End::kInterrupted : HookOutcome::End::kTimedOut;
      kill(-pid_, SIGTERM);
      ended = WaitUntil(limits_.grace, -1);
    }
    // Not waited for yet, so that the group still is its own.
    kill(-pid_, SIGKILL);
    if (!ended) ended = WaitUntil(limits_.grace, -1);
    if (output_.get() >= 0) ReadSome(output_.get(), kLastReads, text_);

    HookOutcome outcome = Reap(ended);
    if (stopped) outcome.end = *stopped;
    outcome.output = text_.Text();
    outcome.took = absl::FromChrono(SteadyClock::now() - begin_);
    return outcome;
  }

 private:
  // True once the process has ended.
  bool WaitUntil(absl::Duration patience, int interrupt) {
    const auto deadline = SteadyClock::now() + absl::ToChronoNanoseconds(patience);
    for (;;) {
      pollfd fds[] = {
          {ended_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {interrupt, POLLIN, 0}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
      const auto wait = std::clamp(left, std::chrono::milliseconds(0), kLongestPoll);
      const int n = poll(fds, std::size(fds), static_cast<int>(wait.count()));
      if (n < 0 && errno != EINTR) return false;
      if (n <= 0) {
        if (SteadyClock::now() >= deadline) return false;
        continue;
      }
      if (fds[1].revents != 0 && !ReadSome(output_.get(), 1, text_)) output_.Close();
      if (fds[0].revents != 0) return true;
      if (fds[2].revents != 0) {
        interrupted_ = true;
        return false;
      }
      if (SteadyClock::now() >= deadline) return false;  // it prints without pause
    }
  }

  HookOutcome Reap(bool ended) {
    if (!ended) {
      // The kernel does not let it go (a file server that is away). Somebody has to wait
      // for it all the same, or it stays behind for ever.
      std::thread([pid = pid_] { waitpid(pid, nullptr, 0); }).detach();
      return {};
    }
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      return {.end = HookOutcome::End::kSignalled, .status = WTERMSIG(status)};
    }
    return {.end = HookOutcome::End::kExited, .status = WEXITSTATUS(status)};
  }

  const SteadyClock::time_point begin_ = SteadyClock::now();
  const pid_t pid_;
  Descriptor ended_;   // readable once it has
  Descriptor output_;  // does not block
  const HookLimits limits_;
  BoundedOutput text_{limits_.max_output};
  bool interrupted_ = false;
};

HookOutcome NotStarted(std::string why) {
  return {.end = HookOutcome::End::kNotStarted, .error = std::move(why)};
}

}  // namespace

absl::Status CheckHook(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) {
    return absl::InvalidArgumentError(Reason(absl::StrCat("hook ", path).c_str(), errno));
  }
  if (!S_ISREG(file.st_mode) || access(path.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hook ", path, " is not a file that may be executed; chmod +x it, or name another"));
  }
  if ((file.st_mode & S_IWOTH) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("hook ", path, " may be changed by anybody on this machine; chmod o-w it"));
  }
  return absl::OkStatus();
}

HookOutcome RunHookProcess(const std::string& path, const std::string& input,
                           std::vector<std::string> environment, const HookLimits& limits,
                           int interrupt) {
  std::string error;
  Descriptor digest = InputFile(input, error);
  if (digest.get() < 0) return NotStarted(std::move(error));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NotStarted(Reason("pipe", errno));
  Descriptor output(ends[0]);
  Descriptor writing(ends[1]);
  fcntl(output.get(), F_SETFL, O_NONBLOCK);

  pid_t pid = -1;
  if (const int e = Spawn(path, environment, digest.get(), writing.get(), pid); e != 0) {
    return NotStarted(Reason(path.c_str(), e));
  }
  writing.Close();
  digest.Close();
  Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (ended.get() < 0) {
    const int e = errno;
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return NotStarted(Reason("pidfd_open (this needs Linux 5.3, or a descriptor to spare)", e));
  }
  return Running(pid, std::move(ended), std::move(output), limits).Wait(interrupt);
}

}  // namespace rapideye::coordinator
