#include "agent/exec/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/exec/limits.h"
#include "agent/exec/relay.h"
#include "proto/common/backoff/backoff.h"
#include "proto/common/clock/clock.h"
#include "proto/common/process/forget_start_up.h"

namespace rapideye::agent {
namespace {

// Exit statuses as shells give them.
constexpr int kNoSuchCommand = 127;
constexpr int kCannotBeRun = 126;
// The agent's, if the system lends it no thread.
constexpr int kNoThread = 1;
constexpr int kSignalled = 128;

// Interval of checks whether the last output has been passed on.
constexpr absl::Duration kDrainLook = absl::Milliseconds(10);

// All signals by which somebody tells the command something, and SIGCHLD. Signals by which the
// kernel says that this process itself has gone wrong keep their effect.
sigset_t Forwarded() {
  sigset_t set;
  sigfillset(&set);
  for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&set, own);
  return set;
}

bool EndsProcesses(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
}

bool SamePlace(int a, int b) {
  struct stat first = {};
  struct stat second = {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

void CloseIfOpen(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

void PutNothingAt(int descriptor) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing == descriptor) fcntl(nothing, F_SETFD, 0);  // inherited, as a copy would be
  if (nothing < 0 || nothing == descriptor) return;
  dup2(nothing, descriptor);
  close(nothing);
}

// Other files would get the numbers of standard streams that are closed, and be written to.
void OpenClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) PutNothingAt(stream);
  }
}

// One output of the command.
struct Output {
  std::shared_ptr<RelayedOutput> relayed = std::make_shared<RelayedOutput>();
  int command_end = -1;
  std::unique_ptr<Relay> relay;
};

class Supervisor {
 public:
  explicit Supervisor(const ExecOptions& options) : options_(options) {}

  int Run() {
    // The relays come first: a command whose output nobody reads would be killed by SIGPIPE.
    if (!Prepare() || !StartRelays()) return RunInPlace();
    if (const int status = StartCommand(); status != 0) return status;
    StartAgent();
    ForgetStartUp();
    while (!exit_status_.has_value()) Await(NextRestart());
    SeeItOut();
    return *exit_status_;
  }

 private:
  bool Prepare();
  bool StartRelays();
  int StartCommand();
  // Runs the command in place of this process; returns only if it cannot be run.
  int RunInPlace();
  [[noreturn]] void BecomeCommand(pid_t supervisor, int failed);
  [[noreturn]] void ExecuteCommand(int failed);
  void StartAgent();
  [[noreturn]] void BecomeAgent();
  [[noreturn]] void WatchCommand();
  // Each child of ours but the command calls this first, so that no signal of the terminal or
  // of the command's group reaches it.
  void Detach(const char* name) const;

  absl::Duration NextRestart() const { return agent_ < 0 ? restart_at_ : absl::InfiniteDuration(); }
  // Waits for signals until then, and acts on those that have come.
  void Await(absl::Duration until);
  void Forward(const signalfd_siginfo& signal);
  void Reap();
  void Note(const siginfo_t& child);
  void NoteAgentEnd(const siginfo_t& child);
  void MirrorStop();
  void SeeItOut();
  // False: no process can be had for it.
  bool LeaveHeirs() const;
  // Returns when it is done, or the output has not moved for kDrainPatience.
  void AwaitOutput(const std::function<bool()>& done);
  std::vector<const RelayedOutput*> Relayed() const;
  bool Drained() const;
  uint64_t Written() const;
  // `aloud`: on standard error, too.
  void Say(const std::string& text, bool aloud = false) const;

  const ExecOptions& options_;
  sigset_t mask_before_ = {};
  struct sigaction child_before_ = {};
  int signals_ = -1;
  int wake_ = -1;
  int self_ = -1;  // a pidfd
  bool has_terminal_ = false;
  std::atomic<int>* told_to_end_ = nullptr;  // shared with the agent
  std::vector<Output> outputs_;
  pid_t command_ = -1;
  pid_t agent_ = -1;
  std::optional<int> exit_status_;
  absl::Duration restart_at_ = absl::InfiniteDuration();
  Backoff backoff_{kFirstRestart, kSlowestRestart};
};

// A child writes the line in the supervisor's place: it may block, and ends in time.
void Supervisor::Say(const std::string& text, bool aloud) const {
  if (fork() != 0) return;
  Detach("rapideye-say");
  signal(SIGALRM, SIG_DFL);
  sigset_t none = {};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kSaySeconds);
  PutNothingAt(STDOUT_FILENO);
  for (const Output& output : outputs_) {
    if (!output.relayed->is_over) close(output.relayed->from);
  }
  const std::string line = absl::StrCat("rapideye-agent exec: ", text, "\n");
  const int log = options_.open_log();
  [[maybe_unused]] ssize_t written = write(log, line.data(), line.size());
  if (aloud && !SamePlace(log, STDERR_FILENO)) {
    written = write(STDERR_FILENO, line.data(), line.size());
  }
  _exit(0);
}

bool Supervisor::Prepare() {
  prctl(PR_SET_NAME, "rapideye-exec");
  OpenClosedStreams();
  // Some parents leave SIGCHLD ignored: then the end of a child would never be learnt.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, &child_before_);
  const sigset_t forwarded = Forwarded();
  sigprocmask(SIG_BLOCK, &forwarded, &mask_before_);
  signals_ = signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  self_ = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  void* page = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool ready = signals_ >= 0 && wake_ >= 0 && self_ >= 0 && page != MAP_FAILED;
  if (page != MAP_FAILED) told_to_end_ = new (page) std::atomic<int>(0);
  has_terminal_ = tcgetpgrp(STDIN_FILENO) == getpgrp();
  outputs_.emplace_back().relayed->to = STDOUT_FILENO;
  // Outputs that go to one place share a pipe, so that their lines keep their order.
  if (!SamePlace(STDOUT_FILENO, STDERR_FILENO)) outputs_.emplace_back().relayed->to = STDERR_FILENO;
  for (Output& output : outputs_) {
    int ends[2] = {-1, -1};
    ready = pipe2(ends, O_CLOEXEC) == 0 && ready;
    output.relayed->from = ends[0];
    output.relayed->wake = wake_;
    output.relayed->over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output.command_end = ends[1];
    absl::StatusOr<std::unique_ptr<OutputRing>> ring = OutputRing::Create();
    ready = ring.ok() && output.relayed->over >= 0 && ready;
    if (ring.ok()) output.relayed->ring = *std::move(ring);
  }
  return ready;
}

// False: no thread can be had, since the user or the container has as many as it may have.
bool Supervisor::StartRelays() {
  try {
    for (Output& output : outputs_) output.relay = std::make_unique<Relay>(output.relayed);
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

int Supervisor::RunInPlace() {
  constexpr char kProblem[] =
      "rapideye-agent exec: no descriptors, memory or processes left; the command runs unwatched\n";
  // Standard error may be a full pipe that has no reader.
  pollfd room = {STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, /*timeout=*/0) > 0 && (room.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kProblem, sizeof(kProblem) - 1);
  }
  ExecuteCommand(/*failed=*/-1);
}

// Returns 0, or the exit status that says why the command does not run.
int Supervisor::StartCommand() {
  int failed[2] = {-1, -1};
  if (pipe2(failed, O_CLOEXEC) != 0) return RunInPlace();
  const pid_t supervisor = getpid();
  command_ = fork();
  if (command_ < 0) return RunInPlace();
  int error = 0;
  if (command_ == 0) BecomeCommand(supervisor, failed[1]);
  close(failed[1]);
  for (Output& output : outputs_) CloseIfOpen(output.command_end);
  // The pipe closes without a byte when exec has succeeded.
  while (read(failed[0], &error, sizeof(error)) < 0 && errno == EINTR) continue;
  close(failed[0]);
  if (error == 0) {
    setpgid(command_, command_);  // parent and child both do: either may be first
    if (has_terminal_) tcsetpgrp(STDIN_FILENO, command_);
    return 0;
  }
  std::fprintf(stderr, "rapideye-agent exec: cannot run %s: %s\n", options_.command[0].c_str(),
               std::strerror(error));
  return error == ENOENT ? kNoSuchCommand : kCannotBeRun;
}

// Runs in the child, between fork and exec.
void Supervisor::BecomeCommand(pid_t supervisor, int failed) {
  setpgid(0, 0);
  if (has_terminal_) tcsetpgrp(STDIN_FILENO, getpid());
  dup2(outputs_.front().command_end, STDOUT_FILENO);
  dup2(outputs_.back().command_end, STDERR_FILENO);
  // With kernel.yama.ptrace_scope=1 only an ancestor may read the command's stacks. This call also
  // admits the supervisor and its children, and outlives execvp; children of the command do not
  // inherit it. On a kernel without Yama the call fails, and does not matter.
  prctl(PR_SET_PTRACER, supervisor);
  ExecuteCommand(failed);
}

// Writes errno to `failed` if exec fails; -1: to standard error.
void Supervisor::ExecuteCommand(int failed) {
  std::vector<char*> argv;
  for (const std::string& word : options_.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  execvp(argv[0], argv.data());
  const int error = errno;
  if (failed < 0) {
    std::fprintf(stderr, "rapideye-agent exec: cannot run %s: %s\n", argv[0], std::strerror(error));
    _exit(error == ENOENT ? kNoSuchCommand : kCannotBeRun);
  }
  [[maybe_unused]] const ssize_t told = write(failed, &error, sizeof(error));
  _exit(kCannotBeRun);
}

void Supervisor::Detach(const char* name) const {
  setsid();
  prctl(PR_SET_NAME, name);
  PutNothingAt(STDIN_FILENO);
}

// An output that is over has closed its pipe, and another file may have the descriptor's number.
std::vector<const RelayedOutput*> Supervisor::Relayed() const {
  std::vector<const RelayedOutput*> relayed;
  for (const Output& output : outputs_) {
    if (!output.relayed->is_over) relayed.push_back(output.relayed.get());
  }
  return relayed;
}

// Orphans of the command may hold its output open for longer than it is worth waiting: a process
// for each output goes on in our place. It needs no thread, of which none may be left.
bool Supervisor::LeaveHeirs() const {
  for (const RelayedOutput* relayed : Relayed()) {
    const pid_t heir = fork();
    if (heir < 0) return false;
    if (heir > 0) continue;
    Detach("rapideye-relay");
    for (const Output& other : outputs_) {
      if (other.relayed.get() == relayed) continue;
      PutNothingAt(other.relayed->to);
      if (!other.relayed->is_over) close(other.relayed->from);
    }
    InheritRelay(self_, *relayed);
    _exit(0);
  }
  return true;
}

void Supervisor::StartAgent() {
  restart_at_ = absl::InfiniteDuration();
  agent_ = fork();
  if (agent_ == 0) BecomeAgent();
  if (agent_ < 0) {
    Say(absl::StrCat("cannot start the agent: ", std::strerror(errno)));
    restart_at_ = MonotonicTime() + kSlowestRestart;
  }
}

void Supervisor::BecomeAgent() {
  Detach("rapideye-agent");
  try {
    WatchCommand();
  } catch (const std::system_error&) {
    // No thread can be had; later there may be one.
    _exit(kNoThread);
  }
}

void Supervisor::WatchCommand() {
  // The relay's threads begin while all signals are blocked: other threads handle signals.
  RelayHeir heir(self_, Relayed());
  CommandWatch watch;
  watch.pid = command_;
  watch.wake = wake_;
  watch.told_to_end = told_to_end_;
  for (const Output& output : outputs_) {
    watch.outputs.push_back(output.relayed->ring.get());
    if (!output.relayed->is_over) close(output.relayed->from);
  }
  CloseIfOpen(signals_);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  // _exit skips destructors: the objects belong to the supervisor.
  const int status = options_.agent(watch);
  std::fflush(nullptr);
  pollfd supervisor = {self_, POLLIN, 0};
  if (poll(&supervisor, 1, /*timeout=*/0) > 0) heir.Wait();
  _exit(status);
}

void Supervisor::Await(absl::Duration until) {
  if (agent_ < 0 && MonotonicTime() >= restart_at_) StartAgent();
  const absl::Duration left = std::max(absl::ZeroDuration(), until - MonotonicTime());
  const bool forever = left > absl::Hours(1);
  pollfd waiting = {signals_, POLLIN, 0};
  poll(&waiting, 1,
       forever ? -1 : static_cast<int>(absl::ToInt64Milliseconds(left + absl::Milliseconds(1))));
  signalfd_siginfo signal = {};
  while (read(signals_, &signal, sizeof(signal)) == sizeof(signal)) {
    if (signal.ssi_signo == SIGCHLD) {
      Reap();
    } else {
      Forward(signal);
    }
  }
}

void Supervisor::Forward(const signalfd_siginfo& signal) {
  const int number = static_cast<int>(signal.ssi_signo);
  if (exit_status_.has_value()) {
    // The command has ended; only the agent is left to be ended.
    if (EndsProcesses(number) && agent_ > 0) kill(agent_, SIGTERM);
    return;
  }
  if (EndsProcesses(number)) {
    told_to_end_->store(number);
    eventfd_write(wake_, 1);
  }
  if (number == SIGCONT && has_terminal_ && tcgetpgrp(STDIN_FILENO) == getpgrp()) {
    tcsetpgrp(STDIN_FILENO, command_);
  }
  // A terminal stops the whole group of the command, so the whole group has to go on.
  kill(number == SIGCONT ? -command_ : command_, number);
}

void Supervisor::Reap() {
  constexpr int kAny = WEXITED | WSTOPPED | WNOHANG;
  siginfo_t child = {};
  while (!exit_status_.has_value() && waitid(P_ALL, 0, &child, kAny | WNOWAIT) == 0 &&
         child.si_pid != 0) {
    // The command stays a zombie, which the agent can still look at.
    const bool ends = child.si_code != CLD_STOPPED;
    if (child.si_pid == command_ && ends) {
      exit_status_ = child.si_code == CLD_EXITED ? child.si_status : kSignalled + child.si_status;
      return;
    }
    siginfo_t reaped = {};
    if (waitid(P_PID, static_cast<id_t>(child.si_pid), &reaped, kAny) == 0) Note(reaped);
    child.si_pid = 0;
  }
  // waitid would report an ended command for ever: from then on only the agent is waited for.
  if (!exit_status_.has_value()) return;
  siginfo_t reaped = {};
  if (agent_ > 0 && waitid(P_PID, static_cast<id_t>(agent_), &reaped, WEXITED | WNOHANG) == 0 &&
      reaped.si_pid == agent_) {
    Note(reaped);
  }
}

// Notes any child's change but the end of the command; a child that is not ours is an orphan that
// process 1 of a container inherits.
void Supervisor::Note(const siginfo_t& child) {
  if (child.si_code == CLD_STOPPED) {
    const bool by_terminal =
        child.si_status == SIGTSTP || child.si_status == SIGTTIN || child.si_status == SIGTTOU;
    if (child.si_pid == command_ && by_terminal) MirrorStop();
    return;
  }
  if (child.si_pid == agent_) NoteAgentEnd(child);
}

void Supervisor::NoteAgentEnd(const siginfo_t& child) {
  agent_ = -1;
  if (exit_status_.has_value()) return;
  if (child.si_code == CLD_EXITED && (child.si_status == 0 || child.si_status == 2)) {
    // An agent that fails may have wrong settings: a person must see that it ended.
    const bool aloud = child.si_status != 0;
    Say("the agent has ended; the command goes on unwatched", aloud);
    return;
  }
  const absl::Duration delay = backoff_.Next();
  Say(absl::StrCat("the agent ", child.si_code == CLD_EXITED ? "exited with " : "died of signal ",
                   child.si_status, "; it is started again in ", absl::FormatDuration(delay)));
  restart_at_ = MonotonicTime() + delay;
}

// The parent shell must see this process stop as it would see the command stop.
void Supervisor::MirrorStop() {
  if (has_terminal_) tcsetpgrp(STDIN_FILENO, getpgrp());
  raise(SIGSTOP);
}

bool Supervisor::Drained() const {
  return std::all_of(outputs_.begin(), outputs_.end(), [](const Output& output) {
    int waiting = 0;
    const RelayedOutput& relayed = *output.relayed;
    return relayed.is_over || (ioctl(relayed.from, FIONREAD, &waiting) == 0 && waiting == 0 &&
                               relayed.awaits_more && relayed.ring->Drained());
  });
}

uint64_t Supervisor::Written() const {
  uint64_t written = 0;
  for (const Output& output : outputs_) written += output.relayed->ring->written();
  return written;
}

void Supervisor::AwaitOutput(const std::function<bool()>& done) {
  absl::Duration until = MonotonicTime() + kDrainPatience;
  for (uint64_t last = 0; !done(); Await(MonotonicTime() + kDrainLook)) {
    if (const uint64_t written = Written(); written != std::exchange(last, written)) {
      until = MonotonicTime() + kDrainPatience;
    }
    if (MonotonicTime() >= until) return;
  }
}

// The command has ended: its last output goes out, and the agent says its last words.
void Supervisor::SeeItOut() {
  if (has_terminal_) tcsetpgrp(STDIN_FILENO, getpgrp());
  Reap();
  AwaitOutput([this] { return Drained(); });
  // A reader of our output need not wait for the agent.
  if (!LeaveHeirs()) AwaitOutput([this] { return Relayed().empty(); });
  for (const Output& output : outputs_) PutNothingAt(output.relayed->to);
  const bool told = told_to_end_->load() != 0;
  const absl::Duration patience =
      MonotonicTime() + kAgentEndGrace + (told ? kFinalReportIfTold : kFinalReportFor);
  restart_at_ = absl::InfiniteDuration();
  while (agent_ > 0 && MonotonicTime() < patience) Await(patience);
  if (agent_ > 0) kill(agent_, SIGKILL);
}

}  // namespace

int Exec(const ExecOptions& options) { return Supervisor(options).Run(); }

}  // namespace rapideye::agent
