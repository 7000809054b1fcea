#include "agent/sources/stacks/fetch.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/stacks/fetch_tool.h"
#include "agent/sources/stacks/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string ReadText(const std::string& path) {
  return file::ReadSmallFile(path, kMaxProcFileBytes).value_or("");
}

// One attempt at one process.
class Attempt {
 public:
  Attempt(const StackOptions& options, const ProcessSample& process, int cancel)
      : options_(options),
        process_(process),
        folder_(absl::StrCat(options.proc_root, "/", process.id.pid)),
        cancel_(cancel),
        end_(SteadyClock::now() + absl::ToChronoNanoseconds(options.deadline)) {}
  ~Attempt() {
    if (pidfd_ >= 0) close(pidfd_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  StackReading Take() {
    // In another /proc, numbers of processes mean nothing to tools, nor to signals.
    if (options_.proc_root == "/proc") {
      pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, process_.id.pid, 0));
    }
    const absl::StatusOr<ProcessStat> stat = ParseProcessStat(ReadText(folder_ + "/stat"));
    if (!stat.ok() || stat->id != process_.id || stat->state == ProcessState::kZombie) {
      return {{}, "the process has ended"};
    }
    // To look into one that is stopped would need it to be continued, and be told from
    // one that was stopped by the look.
    if (stat->state == ProcessState::kStopped) {
      notes_.push_back("it is stopped, so that only the kernel's word is taken");
    } else if (pidfd_ >= 0) {
      UsePySpy();
      UseEuStack();
      if (!options_.eu_stack.has_value() && !options_.py_spy.has_value()) {
        notes_.push_back(
            "neither eu-stack (Debian: elfutils) nor py-spy is on the PATH: of stacks only the "
            "kernel's part is taken");
      }
    }
    if (native_.empty()) UseKernel();
    StackReading reading;
    reading.stacks = SelectStacks(process_.id.pid, std::move(python_), std::move(native_));
    if (reading.stacks.empty() && notes_.empty()) notes_.push_back("nothing may be looked at");
    reading.unavailable = absl::StrJoin(notes_, "; ");
    return reading;
  }

 private:
  absl::Duration Left() const { return absl::FromChrono(end_ - SteadyClock::now()); }

  // Empty: nothing came of it, and notes_ say why.
  std::string Output(const std::string& name, std::vector<std::string> command) {
    command.push_back(absl::StrCat(process_.id.pid));
    const ToolRun run = RunTool(command, Left(), kMaxToolBytes, cancel_);
    // A tracer that dies leaves its thread with the SIGSTOP that it was stopped by.
    if (run.killed) syscall(SYS_pidfd_send_signal, pidfd_, SIGCONT, nullptr, 0);
    if (!run.in_time && run.killed) {
      notes_.push_back(
          absl::StrCat(name, " was not done within ", absl::FormatDuration(options_.deadline)));
    } else if (run.output.empty() || run.exit_code.value_or(0) > 1) {
      notes_.push_back(absl::StrCat(
          name, ": ", run.error.empty() ? "no output" : run.error,
          " (the agent must be of the process's user with kernel.yama.ptrace_scope=0, or have "
          "CAP_SYS_PTRACE)"));
    }
    return run.output;
  }

  void UsePySpy() {
    if (!options_.py_spy.has_value()) return;
    const std::string json =
        Output("py-spy", {*options_.py_spy, "dump", "--nonblocking", "--json", "--pid"});
    if (json.empty()) return;
    absl::StatusOr<std::vector<ThreadStack>> threads = ParsePySpy(json);
    if (threads.ok()) {
      python_ = *std::move(threads);
    } else {
      notes_.push_back(std::string(threads.status().message()));
    }
  }

  void UseEuStack() {
    if (!options_.eu_stack.has_value()) return;
    native_ = ParseEuStack(
        Output("eu-stack", {*options_.eu_stack, "-m", "-n", absl::StrCat(kMaxStackFrames), "-p"}));
    for (ThreadStack& thread : native_) thread.name = NameOf(thread.tid);
  }

  std::string NameOf(int64_t tid) const {
    return std::string(
        absl::StripAsciiWhitespace(ReadText(absl::StrCat(folder_, "/task/", tid, "/comm"))));
  }

  void UseKernel() {
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder_ + "/task", error), last;
         !error && it != last && native_.size() < kMaxThreadsRead && Left() > absl::ZeroDuration();
         it.increment(error)) {
      ThreadStack thread;
      if (!absl::SimpleAtoi(it->path().filename().string(), &thread.tid)) continue;
      const std::string task = it->path().string();
      thread.name = NameOf(thread.tid);
      thread.frames = ParseKernelStack(ReadText(task + "/stack"), ReadText(task + "/wchan"),
                                       ReadText(task + "/syscall"));
      native_.push_back(std::move(thread));
    }
  }

  const StackOptions& options_;
  const ProcessSample& process_;
  const std::string folder_;
  const int cancel_;
  const SteadyClock::time_point end_;
  int pidfd_ = -1;
  std::vector<ThreadStack> python_;
  std::vector<ThreadStack> native_;
  std::vector<std::string> notes_;
};

}  // namespace

StackOptions FindStackTools(std::string proc_root, const std::string& path) {
  StackOptions options;
  options.proc_root = std::move(proc_root);
  options.eu_stack = FindTool("eu-stack", path);
  options.py_spy = FindTool("py-spy", path);
  return options;
}

StackReading TakeStacks(const StackOptions& options, const ProcessSample& process, int cancel) {
  return Attempt(options, process, cancel).Take();
}

StackTaker::StackTaker(StackOptions options)
    : options_(std::move(options)), cancel_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StackTaker::~StackTaker() {
  eventfd_write(cancel_, 1);
  if (thread_.joinable()) thread_.join();
  close(cancel_);
}

void StackTaker::Start(const ProcessSample& process) {
  if (thread_.joinable()) {
    if (!done_) return;
    thread_.join();
  }
  done_ = false;
  thread_ = std::thread([this, process] {
    reading_ = TakeStacks(options_, process, cancel_);
    done_ = true;
  });
}

std::optional<StackReading> StackTaker::Finished() {
  if (!thread_.joinable() || !done_) return std::nullopt;
  thread_.join();
  return std::move(reading_);
}

namespace {

class StackFetcher final : public Fetcher<StackReading> {
 public:
  explicit StackFetcher(StackOptions options) : taker_(std::move(options)) {}

  const StackTaker& taker() const { return taker_; }

  // Does not wait: they are there in a later look.
  std::optional<StackReading> Fetch(const HostLook& look, absl::Duration,
                                    HostFindings& found) override {
    std::optional<StackReading> reading;
    const bool lives = found.process.has_value() && !found.process->Ended();
    if (look.stacks && lives) {
      taker_.Start(*found.process);
    } else if (look.stacks) {
      reading.emplace();  // none are to be waited for
    }
    if (auto finished = taker_.Finished()) reading = *std::move(finished);
    return reading;
  }

 private:
  StackTaker taker_;
};

}  // namespace

std::unique_ptr<Fetcher<StackReading>> StacksSource::MakeFetcher(const HostOptions& options,
                                                                 HostFindings& found) {
  const char* path = std::getenv("PATH");
  auto fetcher = std::make_unique<StackFetcher>(
      FindStackTools(options.proc_root, path == nullptr ? "/usr/bin:/bin" : path));
  found.process_held_up = [&taker = fetcher->taker()] { return taker.busy(); };
  return fetcher;
}

}  // namespace rapideye::agent
