#include "agent/sources/process/fetch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A child that listens on a port of its own and does nothing.
class Listener {
 public:
  Listener() {
    int port_pipe[2];
    EXPECT_EQ(pipe(port_pipe), 0);
    pid_ = fork();
    if (pid_ == 0) Serve(port_pipe[1]);
    close(port_pipe[1]);
    EXPECT_EQ(read(port_pipe[0], &port_, sizeof(port_)), static_cast<ssize_t>(sizeof(port_)));
    close(port_pipe[0]);
  }
  ~Listener() { End(SIGKILL), Reap(); }

  pid_t pid() const { return pid_; }
  Endpoint endpoint() const { return *ParseEndpoint(absl::StrCat("127.0.0.1:", port_)); }

  void Stop() {
    kill(pid_, SIGSTOP);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT);
  }
  // Leaves a zombie.
  void End(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void Reap() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void Serve(int out) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const uint16_t port = ntohs(address.sin_port);
    if (write(out, &port, sizeof(port)) < 0) _exit(1);
    while (true) pause();
  }

  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

bool Readable(int descriptor) {
  pollfd waiting = {descriptor, POLLIN, 0};
  return poll(&waiting, 1, 10'000) == 1;
}

TEST(ProcessWatchTest, FollowsTheListenerToItsEndAndBeyond) {
  Listener listener;
  ProcessWatch watch("/proc", listener.endpoint());
  ProcessReading reading = watch.Read(absl::ZeroDuration());
  ASSERT_TRUE(reading.process.has_value()) << reading.unavailable;
  EXPECT_EQ(reading.process->id.pid, listener.pid());
  EXPECT_GT(reading.process->id.start_ticks, 0);
  EXPECT_FALSE(reading.process->command.empty());
  EXPECT_FALSE(reading.process->Ended());
  ASSERT_TRUE(reading.process->age_ms.has_value());
  EXPECT_LT(*reading.process->age_ms, 60'000);
  ASSERT_TRUE(watch.SocketInodes().has_value());
  EXPECT_EQ(watch.SocketInodes()->size(), 1u);

  listener.Stop();
  EXPECT_EQ(watch.Read(absl::ZeroDuration()).process->state, ProcessState::kStopped);

  ASSERT_GE(watch.exit_descriptor(), 0);
  listener.End(SIGKILL);
  EXPECT_TRUE(Readable(watch.exit_descriptor()));
  reading = watch.Read(absl::ZeroDuration());
  EXPECT_EQ(reading.process->state, ProcessState::kZombie);
  EXPECT_EQ(reading.process->signal, SIGKILL);
  EXPECT_EQ(reading.process->exit_code, std::nullopt);
  EXPECT_EQ(watch.exit_descriptor(), -1);

  listener.Reap();
  reading = watch.Read(absl::ZeroDuration());
  EXPECT_EQ(reading.process->state, ProcessState::kExited);
  EXPECT_EQ(reading.process->signal, SIGKILL);
  EXPECT_EQ(watch.SocketInodes(), std::nullopt);
  EXPECT_THAT(reading.unavailable, IsEmpty());
}

// A /proc that a test writes.
class FakeProc {
 public:
  FakeProc() : root_(testing::TempDir() + absl::StrCat("proc-", getpid())) {
    std::filesystem::create_directories(root_ + "/net");
  }
  ~FakeProc() { std::filesystem::remove_all(root_); }

  const std::string& root() const { return root_; }

  void Listen(std::initializer_list<int> inodes) {
    std::ofstream table(root_ + "/net/tcp");
    table << "  sl  local_address rem_address   st\n";
    for (const int inode : inodes) {
      table << "   0: 00000000:20EF 00000000:0000 0A 0:0 0:0 0 0 0 " << inode << " 1\n";
    }
  }
  void Process(int pid, int start, std::initializer_list<int> sockets, char state = 'S',
               int exit_status = 0) {
    Write({.pid = pid, .start = start, .state = state, .exit_status = exit_status}, sockets);
  }
  struct Entry {
    int pid = 0;
    int start = 400;
    std::string command = "train";
    int parent = 1;
    int64_t cpu_ticks = 1000;
    std::vector<int> children = {};
    char state = 'S';
    int exit_status = 0;
    int threads = 1;
  };
  void Write(const Entry& entry, std::initializer_list<int> sockets = {}) {
    const auto& [pid, start, command, parent, cpu_ticks, children, state, exit_status, threads] =
        entry;
    const std::string folder = absl::StrCat(root_, "/", pid);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/fd");
    std::ostringstream stat;
    stat << pid << " (" << command << ") " << state << " " << parent << " 1 1 0 -1 0 0 0 0 0 0 "
         << cpu_ticks << " 0 0 20 0 1 0 " << start << " 0 0 0 " << (state == 'Z' ? 0 : 4096);
    for (int field = 27; field < 52; ++field) stat << " 0";
    stat << " " << exit_status << "\n";
    std::ofstream(folder + "/stat") << stat.str();
    for (int i = 0; i < threads; ++i) {
      const std::string thread = absl::StrCat(folder, "/task/", pid + 1000 * i);
      std::filesystem::create_directories(thread);
      std::ofstream(thread + "/stat") << stat.str();
      std::ofstream(thread + "/children") << (i == 0 ? absl::StrJoin(children, " ") : "");
    }
    std::ofstream(folder + "/wchan") << "futex_wait_queue";
    for (const int socket : sockets) {
      std::filesystem::create_symlink(absl::StrCat("socket:[", socket, "]"),
                                      absl::StrCat(folder, "/fd/", socket));
    }
  }
  void Remove(int pid) { std::filesystem::remove_all(absl::StrCat(root_, "/", pid)); }

 private:
  std::string root_;
};

class FakeProcTest : public testing::Test {
 protected:
  ProcessReading Read() { return watch_.Read(now_ += absl::Seconds(5)); }

  FakeProc proc_;
  ProcessWatch watch_{proc_.root(), *ParseEndpoint("localhost:8431")};
  absl::Duration now_;
};

TEST_F(FakeProcTest, TheFirstOfAFamilyIsTheTrainingProcess) {
  proc_.Listen({7});
  proc_.Process(20, 500, {7, 8});
  proc_.Process(30, 400, {7});
  proc_.Process(40, 100, {9});
  const ProcessReading reading = Read();
  ASSERT_TRUE(reading.process.has_value());
  EXPECT_EQ(reading.process->id, (ProcessId{30, 400}));
  EXPECT_EQ(reading.process->cpu_ms, 1000 * 1000 / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(reading.process->wait_channel, "futex_wait_queue");
}

TEST_F(FakeProcTest, AStartThatIsStillToComeTellsNoAge) {
  proc_.Listen({7});
  proc_.Process(30, 400, {7});
  EXPECT_GT(Read().process->age_ms, 0);
  proc_.Remove(30);
  proc_.Listen({8});
  proc_.Process(40, 2'000'000'000, {8});  // two thirds of a year after the boot
  ASSERT_EQ(Read().process->id.pid, 40);
  EXPECT_EQ(Read().process->age_ms, std::nullopt);
}

TEST_F(FakeProcTest, ANumberTakenAgainIsAnotherProcess) {
  proc_.Listen({7});
  proc_.Process(30, 400, {7});
  ASSERT_EQ(Read().process->id, (ProcessId{30, 400}));
  proc_.Process(30, 900, {});
  const ProcessReading reading = Read();
  EXPECT_EQ(reading.process->id, (ProcessId{30, 400}));
  EXPECT_EQ(reading.process->state, ProcessState::kExited);
}

TEST_F(FakeProcTest, ChildrenThatOutliveItAreNotTheNextProcess) {
  proc_.Listen({7});
  proc_.Process(30, 400, {7});
  proc_.Process(31, 401, {7});
  ASSERT_EQ(Read().process->id.pid, 30);
  proc_.Remove(30);
  EXPECT_EQ(Read().process->id.pid, 30);
  EXPECT_EQ(Read().process->state, ProcessState::kExited);
  // A process that begins to listen later is the next training process.
  proc_.Listen({8});
  proc_.Process(50, 800, {8});
  const ProcessReading reading = Read();
  EXPECT_EQ(reading.process->id, (ProcessId{50, 800}));
  EXPECT_EQ(reading.process->state, ProcessState::kSleeping);
}

TEST_F(FakeProcTest, WhoTakesThePlaceOfOneThatLivesIsSeenInTime) {
  proc_.Listen({7});
  proc_.Process(30, 400, {7});
  ASSERT_EQ(Read().process->id.pid, 30);
  proc_.Listen({8});
  proc_.Process(50, 800, {8});
  EXPECT_EQ(Read().process->id.pid, 30);
  now_ += absl::Minutes(1);
  EXPECT_EQ(Read().process->id.pid, 50);
}

TEST_F(FakeProcTest, SaysWhyItSeesNone) {
  EXPECT_THAT(Read().unavailable, IsEmpty());  // nobody listens: nothing to say
  proc_.Listen({7});
  const ProcessReading reading = Read();
  EXPECT_FALSE(reading.process.has_value());
  EXPECT_THAT(reading.unavailable, HasSubstr("port 8431 cannot be seen from here"));
  proc_.Process(30, 400, {7});
  EXPECT_THAT(Read().unavailable, IsEmpty());
}

TEST_F(FakeProcTest, DoesNotSearchAllTheTime) {
  proc_.Listen({7});
  EXPECT_FALSE(Read().process.has_value());
  proc_.Process(30, 400, {7});
  EXPECT_FALSE(watch_.Read(now_ + absl::Seconds(1)).process.has_value());
  EXPECT_TRUE(watch_.Read(now_ + absl::Seconds(5)).process.has_value());
}

TEST_F(FakeProcTest, TheCommandIsFollowedUntilAProcessListens) {
  ProcessWatch watch(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
  const auto read = [&] { return watch.Read(now_ += absl::Seconds(5)).process; };
  EXPECT_FALSE(read().has_value());
  proc_.Process(20, 400, {});
  EXPECT_EQ(read()->id, (ProcessId{20, 400}));
  proc_.Listen({7});
  proc_.Process(30, 500, {7});
  EXPECT_EQ(read()->id, (ProcessId{30, 500}));
  // Its parent, the command, has learnt how it ended.
  proc_.Remove(30);
  EXPECT_EQ(read()->state, ProcessState::kExited);
  EXPECT_EQ(read()->exit_code, std::nullopt);
  proc_.Process(20, 400, {}, 'Z', /*exit_status=*/3 << 8);
  EXPECT_EQ(read()->exit_code, 3);
}

TEST_F(FakeProcTest, WhatAScriptStartsIsTheTrainingProcess) {
  ProcessWatch watch(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
  const auto read = [&] { return watch.Read(now_ += absl::Seconds(5)).process; };
  for (const char* script : {"bash", "train.sh"}) {
    SCOPED_TRACE(script);
    proc_.Write({.pid = 20, .command = script, .cpu_ticks = 3, .children = {21}});
    proc_.Write({.pid = 21, .command = "sleep", .parent = 20, .cpu_ticks = 0});
    ProcessWatch fresh(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
    EXPECT_EQ(fresh.Read(now_).process->id.pid, 20);  // nothing trains yet
    proc_.Write({.pid = 20, .command = script, .cpu_ticks = 3, .children = {21, 30}});
    proc_.Write({.pid = 30, .command = "python", .parent = 20, .cpu_ticks = 900, .children = {31}});
    proc_.Write({.pid = 31, .command = "python", .parent = 30, .cpu_ticks = 5000});  // a loader
    EXPECT_EQ(fresh.Read(now_ + absl::Seconds(5)).process->id.pid, 30);
  }
  EXPECT_EQ(read()->id.pid, 30);
  // It ends. The script expects that, and starts the next one.
  proc_.Write({.pid = 30, .command = "python", .parent = 20, .state = 'Z', .exit_status = 9});
  EXPECT_EQ(read()->state, ProcessState::kZombie);
  EXPECT_EQ(read()->signal, std::nullopt);
  proc_.Write({.pid = 20, .command = "bash", .cpu_ticks = 3, .children = {40}});
  proc_.Write({.pid = 40, .start = 700, .command = "python", .parent = 20});
  EXPECT_EQ(read()->id, (ProcessId{40, 700}));
  // The status of the script is that of the job.
  proc_.Remove(40);
  ProcessReading reading = watch.Read(now_ += absl::Seconds(1));
  EXPECT_EQ(reading.process->state, ProcessState::kExited);
  EXPECT_TRUE(reading.end_awaited);
  proc_.Process(20, 400, {}, 'Z', /*exit_status=*/137 << 8);
  reading = watch.Read(now_ += absl::Seconds(1));
  EXPECT_EQ(reading.process->exit_code, 137);
  EXPECT_FALSE(reading.end_awaited);
}

TEST_F(FakeProcTest, APythonProgramThatHasWorkedMayOnlyLaunch) {
  ProcessWatch watch(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
  const auto read_after = [&](absl::Duration time) {
    return watch.Read(now_ += time).process->id.pid;
  };
  const auto write_command = [&](std::vector<int> children, int threads) {
    proc_.Write({.pid = 20,
                 .command = "python",
                 .cpu_ticks = 300,
                 .children = std::move(children),
                 .threads = threads});
  };
  // It trains, and has a process that reads ahead.
  write_command({21}, 20);
  proc_.Write({.pid = 21, .command = "python", .parent = 20, .cpu_ticks = 900, .threads = 3});
  EXPECT_EQ(read_after(absl::Seconds(5)), 20);
  EXPECT_EQ(read_after(absl::Minutes(10)), 20);
  // It launches. What it started has only begun; later it has done more work than the launcher.
  write_command({30}, 2);
  proc_.Write({.pid = 30, .command = "bash", .parent = 20, .cpu_ticks = 0, .children = {31}});
  proc_.Write({.pid = 31, .command = "python", .parent = 30, .cpu_ticks = 200, .threads = 1});
  EXPECT_EQ(read_after(absl::Minutes(10)), 20);
  proc_.Write({.pid = 31, .command = "python", .parent = 30, .cpu_ticks = 400, .threads = 20});
  EXPECT_EQ(read_after(absl::Minutes(10)), 31);
  // The program that stood above it does not come back while it lives.
  EXPECT_EQ(read_after(absl::Minutes(10)), 31);
}

TEST(ProcessWatchTest, TheEndOfAScriptIsSeenAtOnceAfterThatOfItsProgram) {
  int to_test[2];
  ASSERT_EQ(pipe(to_test), 0);
  // The script: its program works for more than a second, and ends when it is killed.
  const pid_t script = fork();
  if (script == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (clock() < 3 * CLOCKS_PER_SEC / 2) continue;
      const pid_t self = getpid();
      if (write(to_test[1], &self, sizeof(self)) < 0) _exit(1);
      while (true) pause();
    }
    wait(nullptr);
    while (true) pause();
  }
  pid_t program = 0;
  ASSERT_EQ(read(to_test[0], &program, sizeof(program)), static_cast<ssize_t>(sizeof(program)));
  for (const int descriptor : to_test) close(descriptor);

  ProcessWatch watch("/proc", *ParseEndpoint("127.0.0.1:1"), script);
  absl::Duration now;
  std::optional<ProcessSample> process = watch.Read(now).process;
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->id.pid, program);
  kill(program, SIGKILL);
  do {
    process = watch.Read(now += absl::Milliseconds(1)).process;
  } while (!process->Ended());
  EXPECT_TRUE(watch.Read(now).end_awaited);
  ASSERT_GE(watch.exit_descriptor(), 0);
  pollfd lives = {watch.exit_descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&lives, 1, 0), 0);

  kill(script, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(script), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(Readable(watch.exit_descriptor()));
  const ProcessReading reading = watch.Read(now);
  EXPECT_FALSE(reading.end_awaited);
  EXPECT_EQ(reading.process->signal, SIGKILL);
  EXPECT_EQ(watch.exit_descriptor(), -1);
  waitpid(script, nullptr, 0);
}

TEST_F(FakeProcTest, ACommandThatWorksItselfTrains) {
  ProcessWatch watch(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
  const auto read = [&] { return watch.Read(now_ += absl::Seconds(5)).process; };
  proc_.Write({.pid = 20, .command = "python", .children = {21}});
  proc_.Write({.pid = 21, .command = "python", .parent = 20, .cpu_ticks = 90000});
  EXPECT_EQ(read()->id.pid, 20);
  EXPECT_EQ(read()->id.pid, 20);
}

TEST_F(FakeProcTest, ACommandThatWasNeverSeenAliveTellsOnlyABadEnd) {
  for (const auto& [status, code] :
       {std::pair(3 << 8, std::optional<int>(3)), std::pair(0, std::optional<int>())}) {
    proc_.Process(20, 400, {}, 'Z', status);
    ProcessWatch watch(proc_.root(), *ParseEndpoint("localhost:8431"), /*command=*/20);
    const ProcessReading reading = watch.Read(now_);
    ASSERT_TRUE(reading.process.has_value());
    EXPECT_EQ(reading.process->state, ProcessState::kZombie);
    EXPECT_EQ(reading.process->exit_code, code);
  }
}

TEST_F(FakeProcTest, NonsenseIsNoProcess) {
  proc_.Listen({7});
  proc_.Process(30, 400, {7});
  std::ofstream(proc_.root() + "/30/stat") << "nonsense";
  EXPECT_FALSE(Read().process.has_value());
  proc_.Process(30, 400, {7});
  EXPECT_TRUE(Read().process.has_value());
}

}  // namespace
}  // namespace rapideye::agent
