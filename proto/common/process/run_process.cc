#include "proto/common/process/run_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "proto/common/clock/clock.h"
#include "proto/common/worker/thread.h"

namespace rapideye {
namespace {

using Stopped = ProcessOutcome::Stopped;

// Reads that empty a pipe after the process has ended, at most: a descendant that escaped the
// process group could write for ever.
constexpr int kLastReads = 32;
// The longest wait for the kernel, which takes an int of milliseconds.
constexpr absl::Duration kLongestPoll = absl::Hours(1);

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;  // does not block
  Descriptor write;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.Reset(ends[0]);
    write.Reset(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
  }
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Returns 0, or errno. The id of the new process group is that of the process.
int Spawn(const ProcessOptions& options, int output, int error_output, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
  const absl::Cleanup free_files = [&] { posix_spawn_file_actions_destroy(&files); };
  if (posix_spawnattr_init(&attributes) != 0) return ENOMEM;
  const absl::Cleanup free_attributes = [&] { posix_spawnattr_destroy(&attributes); };
  if (options.input < 0) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&files, options.input, STDIN_FILENO);
  }
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, error_output, STDERR_FILENO);
  // Libraries may have opened descriptors without marking them close-on-exec.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t blocked;
  sigset_t all;
  sigemptyset(&blocked);
  if (options.survives_closed_output) sigaddset(&blocked, SIGPIPE);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return posix_spawn(&pid, options.command.front().c_str(), &files, &attributes,
                     Pointers(options.command).data(), Pointers(options.environment).data());
}

// A process from its start until it has been waited for.
class Running {
 public:
  Running(const ProcessOptions& options, pid_t pid, int ended, Descriptor& output,
          Descriptor& error_output)
      : options_(options), pid_(pid), ended_(ended), output_(output), error_output_(error_output) {}

  ProcessOutcome Wait() {
    bool ended = WaitUntil(options_.timeout, options_.interrupt);
    const Stopped stopped = ended ? Stopped::kNo : reason_;
    if (!ended && stopped != Stopped::kByOutput && options_.grace > absl::ZeroDuration()) {
      kill(-pid_, SIGTERM);
      ended = WaitUntil(options_.grace, -1);
    }
    // The process has not been reaped yet, so that the group's id is still its own.
    kill(-pid_, SIGKILL);
    if (!ended) ended = WaitUntil(options_.reap_patience, -1);
    if (output_.get() >= 0) Read(output_, options_.output, kLastReads);
    if (error_output_.get() >= 0) Read(error_output_, options_.error_output, kLastReads);
    ProcessOutcome outcome = Reap(ended);
    outcome.stopped = stopped;
    return outcome;
  }

 private:
  // Reads the output that is there, in so many turns at most; closes a pipe that has ended.
  void Read(Descriptor& from, const ProcessOptions::Output& output, int turns) {
    std::array<char, 16 * 1024> buffer;
    for (int i = 0; i < turns; ++i) {
      const ssize_t n = read(from.get(), buffer.data(), buffer.size());
      if (n > 0) {
        if (!enough_) enough_ = !output({buffer.data(), static_cast<size_t>(n)});
      } else if (n < 0 && errno == EAGAIN) {
        return;
      } else if (n == 0 || errno != EINTR) {
        from.Close();
        return;
      }
    }
  }

  // True once the process has ended; reason_ says why it is to be stopped.
  bool WaitUntil(absl::Duration patience, int interrupt) {
    const absl::Duration deadline = MonotonicTime() + patience;
    const bool had_enough = enough_;
    for (;;) {
      // poll() passes over a descriptor of -1.
      pollfd fds[] = {{ended_, POLLIN, 0},
                      {output_.get(), POLLIN, 0},
                      {error_output_.get(), POLLIN, 0},
                      {interrupt, POLLIN, 0}};
      const absl::Duration wait =
          std::clamp(deadline - MonotonicTime(), absl::ZeroDuration(), kLongestPoll);
      const int n = poll(
          fds, std::size(fds),
          static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1)))));
      reason_ = Stopped::kTimedOut;
      if (n < 0 && errno != EINTR) return false;
      if (n > 0) {
        if (fds[1].revents != 0) Read(output_, options_.output, 1);
        if (fds[2].revents != 0) Read(error_output_, options_.error_output, 1);
        if (enough_ && !had_enough) {
          reason_ = Stopped::kByOutput;
          return false;
        }
        if (fds[0].revents != 0) return true;
        if (fds[3].revents != 0) {
          reason_ = Stopped::kInterrupted;
          return false;
        }
      }
      if (MonotonicTime() >= deadline) return false;  // also if the process prints without pause
    }
  }

  ProcessOutcome Reap(bool ended) const {
    if (!ended) {
      // The kernel does not let the process go (a file server is away, say). A thread has to wait
      // for it all the same, or its zombie stays for ever.
      Thread([pid = pid_] { waitpid(pid, nullptr, 0); }).Join(absl::ZeroDuration());
      return {};
    }
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ProcessOutcome outcome;
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
    return outcome;
  }

  const ProcessOptions& options_;
  const pid_t pid_;
  const int ended_;  // readable once the process has ended
  Descriptor& output_;
  Descriptor& error_output_;  // -1: the process prints both to the other
  bool enough_ = false;
  Stopped reason_ = Stopped::kNo;
};

ProcessOutcome NotStarted(std::string what, int error) {
  ProcessOutcome outcome;
  outcome.not_started = std::move(what);
  outcome.error = error;
  return outcome;
}

}  // namespace

ProcessOutcome RunProcess(const ProcessOptions& options) {
  const absl::Duration begin = MonotonicTime();
  Pipe output;
  Pipe error_output;
  if (!output.Open() || (options.error_output && !error_output.Open())) {
    return NotStarted("pipe", errno);
  }
  const int to_error = options.error_output ? error_output.write.get() : output.write.get();
  pid_t pid = -1;
  if (const int error = Spawn(options, output.write.get(), to_error, pid); error != 0) {
    return NotStarted(options.command.front(), error);
  }
  output.write.Close();
  error_output.write.Close();
  if (options.cpu_seconds.has_value()) {
    const rlimit cpu = {*options.cpu_seconds, *options.cpu_seconds};
    prlimit(pid, RLIMIT_CPU, &cpu, nullptr);  // beyond our own end, too
  }
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (ended.get() < 0) {
    const int error = errno;
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return NotStarted("pidfd_open (this needs Linux 5.3, or a descriptor to spare)", error);
  }
  ProcessOutcome outcome =
      Running(options, pid, ended.get(), output.read, error_output.read).Wait();
  outcome.took = MonotonicTime() - begin;
  return outcome;
}

}  // namespace rapideye
