// Real processes; all waiting is for pipes.
#include "agent/exec/supervisor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    CloseReading();
    CloseWriting();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void CloseReading() {
    if (read_end >= 0) close(std::exchange(read_end, -1));
  }
  void CloseWriting() {
    if (write_end >= 0) close(std::exchange(write_end, -1));
  }
  // Reads up to `end`, or all that comes.
  std::string Read(const std::string& end = "") const {
    std::string text;
    char byte = 0;
    while ((end.empty() || text.find(end) == std::string::npos) && read(read_end, &byte, 1) == 1) {
      text.push_back(byte);
    }
    return text;
  }
  void Write(const std::string& text) const {
    EXPECT_EQ(write(write_end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  int read_end = -1;
  int write_end = -1;
};

using AgentFunction = std::function<int(const CommandWatch&)>;

// The exit status of a process that cannot filter system calls.
constexpr int kNoFilter = 99;
// That of a process that cannot become another user.
constexpr int kNoUser = 98;

int DoNothing(const CommandWatch&) { return 0; }

class SupervisorTest : public testing::Test {
 protected:
  // A shell's command under supervision, in a process of its own.
  void Start(const std::string& script, AgentFunction agent = DoNothing, bool one_place = false) {
    StartCommand({"/bin/sh", "-c", script}, std::move(agent), one_place);
  }

  void StartCommand(
      std::vector<std::string> command, AgentFunction agent = DoNothing, bool one_place = false,
      const std::function<void()>& first = [] {}, const std::function<void()>& last = [] {}) {
    supervisor_ = fork();
    if (supervisor_ == 0) {
      first();
      dup2(in_.read_end, STDIN_FILENO);
      dup2(out_.write_end, STDOUT_FILENO);
      dup2(one_place ? out_.write_end : err_.write_end, STDERR_FILENO);
      const int log = fcntl(log_.write_end, F_DUPFD_CLOEXEC, 10);
      for (Pipe* pipe : {&in_, &out_, &err_, &log_}) pipe->~Pipe();
      const auto logging = [&agent, log](const CommandWatch& watch) {
        dup2(log, STDERR_FILENO);
        dup2(log, STDOUT_FILENO);
        return agent(watch);
      };
      last();
      _exit(Exec({std::move(command), logging, [log] { return log; }}));
    }
    in_.CloseReading();
    out_.CloseWriting();
    err_.CloseWriting();
    log_.CloseWriting();
  }

  // The exit status as a shell states it; -1: killed.
  int ExitStatus() {
    int status = 0;
    EXPECT_EQ(waitpid(supervisor_, &status, 0), supervisor_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Pipe in_;
  Pipe out_;
  Pipe err_;
  Pipe log_;
  pid_t supervisor_ = -1;
};

TEST_F(SupervisorTest, PassesOnOutputAndStatus) {
  Start("printf 'a\\000\\377b'; printf 'no newline' >&2; exit 3");
  EXPECT_EQ(out_.Read(), std::string("a\0\377b", 4));
  EXPECT_EQ(err_.Read(), "no newline");
  EXPECT_EQ(ExitStatus(), 3);
}

TEST_F(SupervisorTest, PassesOnInputAndMegabytes) {
  Start("read line; head -c 5000000 /dev/zero | tr '\\0' x; echo $line");
  in_.Write("hello\n");
  const std::string text = out_.Read();
  EXPECT_EQ(text.size(), 5'000'006u);
  EXPECT_TRUE(text.ends_with("xhello\n"));
  EXPECT_EQ(ExitStatus(), 0);
}

TEST_F(SupervisorTest, KeepsTheOrderOfBothOutputsInOnePlace) {
  Start("for i in 1 2 3; do echo o$i; echo e$i >&2; done", DoNothing, /*one_place=*/true);
  EXPECT_EQ(out_.Read(), "o1\ne1\no2\ne2\no3\ne3\n");
  EXPECT_EQ(ExitStatus(), 0);
}

TEST_F(SupervisorTest, SaysWhichSignalEndedTheCommand) {
  Start("kill -9 $$");
  EXPECT_EQ(ExitStatus(), 128 + SIGKILL);
}

TEST_F(SupervisorTest, SaysWhenThereIsNoCommand) {
  StartCommand({"/nonexistent/python4"});
  EXPECT_THAT(err_.Read(), HasSubstr("cannot run /nonexistent/python4: No such file"));
  EXPECT_EQ(ExitStatus(), 127);
}

TEST_F(SupervisorTest, SaysWhenTheCommandCannotBeRun) {
  StartCommand({"/"});
  EXPECT_THAT(err_.Read(), HasSubstr("Permission denied"));
  EXPECT_EQ(ExitStatus(), 126);
}

class SignalTest : public SupervisorTest, public testing::WithParamInterface<int> {};

TEST_P(SignalTest, IsForwarded) {
  const std::string number = std::to_string(GetParam());
  Start("trap 'echo got; kill -9 $!; exit 7' " + number + "; sleep 1000 & echo ready; wait");
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  kill(supervisor_, GetParam());
  EXPECT_EQ(out_.Read(), "got\n");
  EXPECT_EQ(ExitStatus(), 7);
}

INSTANTIATE_TEST_SUITE_P(Each, SignalTest,
                         testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                                         SIGWINCH, SIGCONT));

TEST_F(SupervisorTest, StopsAndGoesOnWithTheCommand) {
  Start("echo ready; read x; echo $x");
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  kill(supervisor_, SIGTSTP);
  int status = 0;
  EXPECT_EQ(waitpid(supervisor_, &status, WUNTRACED), supervisor_);
  EXPECT_TRUE(WIFSTOPPED(status));
  in_.Write("more\n");
  kill(supervisor_, SIGCONT);
  EXPECT_EQ(out_.Read(), "more\n");
  EXPECT_EQ(ExitStatus(), 0);
}

TEST_F(SupervisorTest, TheCommandFindsOutThatNobodyReads) {
  Start("exec yes");
  EXPECT_EQ(out_.Read("\n"), "y\n");
  out_.CloseReading();
  EXPECT_EQ(ExitStatus(), 128 + SIGPIPE);
}

TEST_F(SupervisorTest, OutputThatAnOrphanHoldsOpenIsNotWaitedFor) {
  Start("sleep 1000 & echo $!");
  const pid_t orphan = std::stoi(out_.Read("\n"));
  EXPECT_EQ(ExitStatus(), 0);
  kill(orphan, SIGKILL);
  EXPECT_EQ(out_.Read(), "");
}

TEST_F(SupervisorTest, OutputOfAnOrphanIsPassedOnAfterTheEnd) {
  // A shell gives its background no other input.
  Start("exec 3<&0; (read x <&3; echo late $x) & echo ready");
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  EXPECT_EQ(ExitStatus(), 0);
  in_.Write("words\n");
  EXPECT_EQ(out_.Read(), "late words\n");
}

// Reading the command ---------------------------------------------------------

// Kills whoever lets this process trace it.
void KillWhoLetsThisProcessRead() {
  const auto self = static_cast<uint32_t>(getpid());
  constexpr uint32_t kWhat = offsetof(seccomp_data, args[0]);
  constexpr uint32_t kWho = offsetof(seccomp_data, args[1]);
  std::array<sock_filter, 8> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kWhat),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PTRACER, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kWho),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {filter.size(), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(kNoFilter);
}

// The command's own declaration outlives its execve, and holds for what the
// supervisor starts (security/yama/yama_lsm.c of Linux).
TEST_F(SupervisorTest, TheCommandLetsTheSupervisorReadIt) {
  StartCommand({"/bin/true"}, DoNothing, /*one_place=*/false, KillWhoLetsThisProcessRead);
  const int status = ExitStatus();
  if (status == kNoFilter) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 128 + SIGSYS);
}

// Reads memory as a tool of the agent would: 0, or errno.
int ReadFirstByte(pid_t pid) {
  uintptr_t address = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/maps") >> std::hex >> address;
  char byte = 0;
  const iovec here = {&byte, 1};
  const iovec there = {reinterpret_cast<void*>(address), 1};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1 ? 0 : errno;
}

TEST_F(SupervisorTest, WhatTheAgentStartsMayReadTheCommandUnderYama) {
  std::string scope;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope != "1") GTEST_SKIP() << "no kernel.yama.ptrace_scope=1 here";
  Start("read x", [](const CommandWatch& watch) {
    const pid_t tool = fork();
    if (tool == 0) _exit(ReadFirstByte(watch.pid));
    int status = 0;
    waitpid(tool, &status, 0);
    dprintf(STDERR_FILENO, "errno %d\n", WEXITSTATUS(status));
    return 0;
  });
  EXPECT_EQ(log_.Read("\n"), "errno 0\n");
  in_.Write("\n");
}

// The agent -------------------------------------------------------------------

// Reads an output until its end.
std::string All(const CommandWatch& watch, size_t output) {
  std::string text;
  // The relay wakes whoever reads when the output has ended.
  pollfd woken = {watch.wake, POLLIN, 0};
  poll(&woken, 1, /*timeout=*/-1);
  std::array<char, 100> buffer;
  while (true) {
    const auto portion = watch.outputs[output]->Read(absl::MakeSpan(buffer));
    if (portion.size == 0) return text;
    text.append(buffer.data(), portion.size);
  }
}

TEST_F(SupervisorTest, TheAgentSeesOutputAndIsWaitedFor) {
  Start(
      "echo hello",
      [](const CommandWatch& watch) {
        const std::string text = All(watch, 0);
        dprintf(STDERR_FILENO, "the command %s: %s",
                kill(watch.pid, 0) == 0 ? "is there" : "is gone", text.c_str());
        return 0;
      },
      /*one_place=*/true);
  EXPECT_EQ(out_.Read(), "hello\n");
  EXPECT_EQ(ExitStatus(), 0);
  EXPECT_EQ(log_.Read(), "the command is there: hello\n");
}

TEST_F(SupervisorTest, TheAgentIsToldThatTheCommandIsToEnd) {
  Start("echo ready; exec sleep 1000", [](const CommandWatch& watch) {
    pollfd woken = {watch.wake, POLLIN, 0};
    poll(&woken, 1, /*timeout=*/-1);
    dprintf(STDERR_FILENO, "signal %d\n", watch.told_to_end->load());
    return 0;
  });
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  kill(supervisor_, SIGTERM);
  EXPECT_EQ(ExitStatus(), 128 + SIGTERM);
  EXPECT_EQ(log_.Read("\n"), "signal 15\n");
}

TEST_F(SupervisorTest, TheCommandSurvivesItsAgent) {
  Start("read x; echo $x; exit 5", [](const CommandWatch&) { return kill(getpid(), SIGKILL); });
  EXPECT_THAT(log_.Read("again"), HasSubstr("the agent died of signal 9; it is started again"));
  in_.Write("alive\n");
  EXPECT_EQ(out_.Read(), "alive\n");
  EXPECT_EQ(ExitStatus(), 5);
}

TEST_F(SupervisorTest, AnAgentThatCannotWorkIsLeftAlone) {
  Start("read x; exit 5", [](const CommandWatch&) { return 2; });
  EXPECT_THAT(log_.Read("\n"), HasSubstr("the command goes on unwatched"));
  EXPECT_THAT(err_.Read("\n"), HasSubstr("the command goes on unwatched"));
  in_.Write("\n");
  EXPECT_EQ(ExitStatus(), 5);
}

// Fills the pipe until the next write would block.
void Fill(int pipe) {
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  while (write(pipe, "x", 1) == 1) continue;
  fcntl(pipe, F_SETFL, 0);
}

TEST_F(SupervisorTest, SignalsReachTheCommandWhileNobodyReadsTheLog) {
  Pipe agents;
  Fill(log_.write_end);
  Start("trap 'echo got; kill -9 $!; exit 7' TERM; sleep 1000 & echo ready; wait",
        [&agents](const CommandWatch&) {
          agents.Write("another\n");
          return kill(getpid(), SIGKILL);
        });
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  // The second is started after the first one's death was to be logged.
  EXPECT_EQ(agents.Read("\n"), "another\n");
  EXPECT_EQ(agents.Read("\n"), "another\n");
  kill(supervisor_, SIGTERM);
  EXPECT_EQ(out_.Read(), "got\n");
  EXPECT_EQ(ExitStatus(), 7);
}

TEST_F(SupervisorTest, ALogThatCannotBeOpenedStopsNothing) {
  Pipe never;
  const auto open_log = [&never] {
    never.Read();
    return STDERR_FILENO;
  };
  supervisor_ = fork();
  if (supervisor_ == 0) {
    never.CloseWriting();
    dup2(out_.write_end, STDOUT_FILENO);
    _exit(Exec({{"/bin/sh", "-c", "echo runs; exit 3"},
                [&open_log](const CommandWatch&) { return open_log(); },
                open_log}));
  }
  EXPECT_EQ(out_.Read("\n"), "runs\n");
  never.CloseWriting();
  EXPECT_EQ(ExitStatus(), 3);
}

TEST_F(SupervisorTest, WithoutDescriptorsTheCommandRunsUnwatched) {
  const auto leave_few = [] {
    constexpr rlim_t kFew = 6;
    const rlimit few = {kFew, kFew};
    setrlimit(RLIMIT_NOFILE, &few);
  };
  StartCommand(
      {"/bin/sh", "-c", "echo runs; exit 3"}, DoNothing, /*one_place=*/false, [] {}, leave_few);
  EXPECT_EQ(out_.Read(), "runs\n");
  EXPECT_THAT(err_.Read(), HasSubstr("the command runs unwatched"));
  EXPECT_EQ(ExitStatus(), 3);
}

TEST_F(SupervisorTest, ClosedStreamsAreNoOtherFiles) {
  const auto shut = [] {
    close(STDIN_FILENO);
    close(STDERR_FILENO);
  };
  StartCommand(
      {"/bin/sh", "-c", "readlink /proc/self/fd/0; echo lost >&2; echo output"}, DoNothing, false,
      [] {}, shut);
  EXPECT_EQ(out_.Read(), "/dev/null\noutput\n");
  EXPECT_EQ(ExitStatus(), 0);
}

// The supervisor, the threads of its relays, the command and the agent are six.
TEST_F(SupervisorTest, WithoutProcessesOrThreadsTheCommandRunsAllTheSame) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become a user without other processes";
  for (rlim_t most = 1; most <= 8; ++most) {
    Pipe out;
    const pid_t supervisor = fork();
    if (supervisor == 0) {
      const rlimit processes = {most, most};
      const auto user = static_cast<uid_t>(61'000 + getpid() % 4'000);
      dup2(out.write_end, STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
      if (setrlimit(RLIMIT_NPROC, &processes) != 0 || setuid(user) != 0) _exit(kNoUser);
      _exit(
          Exec({{"/bin/sh", "-c", "echo runs; exit 3"}, DoNothing, [] { return STDERR_FILENO; }}));
    }
    out.CloseWriting();
    const std::string said = out.Read("\n");
    int status = 0;
    EXPECT_EQ(waitpid(supervisor, &status, 0), supervisor);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoUser) GTEST_SKIP() << "no such users here";
    EXPECT_EQ(said, "runs\n") << most;
    EXPECT_TRUE(WIFEXITED(status)) << most << ": signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 3) << most;
  }
}

// An agent that waits until the command has ended.
int StayWithIt(const CommandWatch& watch) {
  pollfd ended = {static_cast<int>(syscall(SYS_pidfd_open, watch.pid, 0)), POLLIN, 0};
  dprintf(STDERR_FILENO, "here\n");
  poll(&ended, 1, /*timeout=*/-1);
  return 0;
}

TEST_F(SupervisorTest, TheCommandFindsOutThatNobodyReadsBesideAnAgent) {
  Start("exec yes", StayWithIt);
  EXPECT_EQ(out_.Read("\n"), "y\n");
  out_.CloseReading();
  EXPECT_EQ(ExitStatus(), 128 + SIGPIPE);
}

TEST_F(SupervisorTest, TheCommandSurvivesItsSupervisor) {
  Start("echo ready; read x; echo $x; head -c 500000 /dev/zero", StayWithIt);
  EXPECT_EQ(out_.Read("\n"), "ready\n");
  EXPECT_EQ(log_.Read("\n"), "here\n");
  kill(supervisor_, SIGKILL);
  EXPECT_EQ(ExitStatus(), -1);
  in_.Write("alive\n");
  // Killed between the write and its note in the ring, it leaves that piece to be written again.
  const std::string rest = out_.Read();
  const absl::string_view last = absl::StripPrefix(rest, "ready\n");
  EXPECT_EQ(last.size(), 500'006u);
  EXPECT_EQ(last.substr(0, 6), "alive\n");
}

}  // namespace
}  // namespace rapideye::agent
