#include "agent/sources/stacks/fetch.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
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
#include "agent/sources/stacks/fetch_hold.h"
#include "agent/sources/stacks/fetch_python.h"
#include "agent/sources/stacks/fetch_tool.h"
#include "agent/sources/stacks/parse.h"
#include "proto/common/file/small_file.h"
#include "proto/common/process/find_program.h"

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

std::string ReadText(const std::string& path) {
  return file::ReadSmallFile(path, kMaxProcFileBytes).value_or("");
}

absl::Duration Since(SteadyClock::time_point begin) {
  return absl::FromChrono(SteadyClock::now() - begin);
}

std::string NameOf(const std::string& folder, int64_t tid) {
  return std::string(
      absl::StripAsciiWhitespace(ReadText(absl::StrCat(folder, "/task/", tid, "/comm"))));
}

// Stacks as the kernel tells them, of all threads, or of this one only.
std::vector<ThreadStack> KernelStacks(const std::string& folder, std::optional<int64_t> only) {
  std::vector<ThreadStack> threads;
  file::ForEachEntry(folder + "/task", [&](const char* name) {
    ThreadStack thread;
    if (!absl::SimpleAtoi(name, &thread.tid)) return true;
    if (only.has_value() && thread.tid != *only) return true;
    const std::string task = absl::StrCat(folder, "/task/", name);
    thread.name = NameOf(folder, thread.tid);
    thread.frames = ParseKernelStack(ReadText(task + "/stack"), ReadText(task + "/wchan"),
                                     ReadText(task + "/syscall"));
    threads.push_back(std::move(thread));
    return threads.size() < kMaxThreadsRead;
  });
  return threads;
}

// One attempt to read the stacks of one process.
class Attempt {
 public:
  Attempt(const StackOptions& options, const ProcessSample& process, StackLook look, int cancel)
      : options_(options),
        process_(process),
        look_(look),
        folder_(absl::StrCat(options.proc_root, "/", process.id.pid)),
        cancel_(cancel) {}
  ~Attempt() {
    if (pidfd_ >= 0) close(pidfd_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  StackReading Take(const std::function<void(const StackReading&)>& so_far) {
    // In another /proc, numbers of processes mean nothing to tools, nor to signals.
    if (options_.proc_root == "/proc") {
      pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, process_.id.pid, 0));
    }
    if (!State().has_value()) return {{}, "the process has ended"};
    const SteadyClock::time_point begin = SteadyClock::now();
    const std::string switches = Switches();
    if (pidfd_ >= 0) {
      PythonReading python = ReadPython(options_, process_, cancel_);
      python_ = std::move(python.threads);
      children_ = std::move(python.children);
      Note(std::move(python.unavailable));
      if (!options_.eu_stack.has_value() && !options_.py_spy.has_value()) {
        Note(
            "neither py-spy (pip install py-spy) nor eu-stack (Debian: elfutils) is on the PATH: "
            "of stacks only the kernel's part is taken");
      }
      const bool native = look_ != StackLook::kReading && options_.eu_stack.has_value();
      if (native && so_far) {
        StackReading reading = Reading();
        reading.complete = false;
        so_far(reading);
      }
      if (native && (look_ == StackLook::kStopping || Idle(begin, switches))) UseEuStack();
    }
    // Where Python tells of the threads, the kernel is asked of the main one only.
    if (native_.empty()) {
      native_ =
          KernelStacks(folder_, python_.empty() ? std::nullopt : std::optional(process_.id.pid));
    }
    return Reading();
  }

 private:
  // Absent: the process has ended.
  std::optional<ProcessState> State() const {
    const absl::StatusOr<ProcessStat> stat = ParseProcessStat(ReadText(folder_ + "/stat"));
    if (!stat.ok() || stat->id != process_.id || stat->state == ProcessState::kZombie) {
      return std::nullopt;
    }
    return stat->state;
  }

  StackReading Reading() const {
    StackReading reading;
    reading.stacks = SelectStacks(process_.id.pid, python_, native_, children_);
    std::vector<std::string> notes = notes_;
    if (reading.stacks.empty() && notes.empty()) notes.push_back("nothing may be looked at");
    reading.unavailable = absl::StrJoin(notes, "; ");
    return reading;
  }

  // Grows whenever the main thread runs.
  std::string Switches() const {
    const std::string status =
        ReadText(absl::StrCat(folder_, "/task/", process_.id.pid, "/status"));
    const size_t begin = status.find("voluntary_ctxt_switches:");
    return begin == std::string::npos ? "" : status.substr(begin);
  }

  // True if the main thread has not run since `begin`, which is long enough ago.
  bool Idle(SteadyClock::time_point begin, const std::string& switches) const {
    if (IsReadable(cancel_, options_.idle_look - Since(begin))) return false;
    const std::optional<ProcessState> state = State();
    const bool waits = state.has_value() && *state != ProcessState::kRunning;
    return waits && !switches.empty() && Switches() == switches;
  }

  void Note(std::string text) {
    if (!text.empty()) notes_.push_back(std::move(text));
  }

  void UseEuStack() {
    // A stopped process could not be told from one that the look itself has stopped.
    if (State() == ProcessState::kStopped) {
      return Note("it is stopped, so that no native frames are taken");
    }
    const HoldLimit limit(absl::StrCat(folder_, "/task/", process_.id.pid), options_.max_hold,
                          cancel_);
    const ToolRun run =
        RunTool({*options_.eu_stack, "-1", "-m", "-n", absl::StrCat(kMaxStackFrames), "-p",
                 absl::StrCat(process_.id.pid)},
                options_.native_deadline, kMaxToolBytes, limit.interrupt());
    // A tracer that dies leaves its thread with the SIGSTOP that it was stopped by.
    if (run.killed) syscall(SYS_pidfd_send_signal, pidfd_, SIGCONT, nullptr, 0);
    native_ = ParseEuStack(run.output);
    for (ThreadStack& thread : native_) thread.name = NameOf(folder_, thread.tid);
    if (run.killed && run.in_time) {
      Note("eu-stack held the main thread for too long and was ended");
    } else {
      Note(WhyNoOutput("eu-stack", run, options_.native_deadline, options_.proc_root));
    }
  }

  const StackOptions& options_;
  const ProcessSample& process_;
  const StackLook look_;
  const std::string folder_;
  const int cancel_;
  int pidfd_ = -1;
  std::vector<ThreadStack> python_;
  std::vector<ThreadStack> native_;
  std::vector<ChildStacks> children_;
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

StackReading TakeStacks(const StackOptions& options, const ProcessSample& process, StackLook look,
                        int cancel, const std::function<void(const StackReading&)>& so_far) {
  return Attempt(options, process, look, cancel).Take(so_far);
}

StackTaker::StackTaker(StackOptions options)
    : options_(std::move(options)), cancel_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StackTaker::~StackTaker() {
  eventfd_write(cancel_, 1);
  worker_.Stop();
  close(cancel_);
}

void StackTaker::Start(const ProcessSample& process, StackLook look) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(busy_, true)) return;
    finished_.reset();
  }
  worker_.Post([this, process, look] {
    StackReading reading =
        TakeStacks(options_, process, look, cancel_, [this](const StackReading& so_far) {
          const MutexLock lock(mutex_);
          finished_ = so_far;
          may_hold_ = true;
        });
    const MutexLock lock(mutex_);
    busy_ = false;
    may_hold_ = false;
    finished_ = std::move(reading);
  });
}

bool StackTaker::may_hold() const {
  const MutexLock lock(mutex_);
  return may_hold_;
}

std::optional<StackReading> StackTaker::Finished() {
  const MutexLock lock(mutex_);
  return std::exchange(finished_, std::nullopt);
}

namespace {

class StackFetcher final : public Fetcher<StackReading> {
 public:
  explicit StackFetcher(StackOptions options) : taker_(std::move(options)) {}

  const StackTaker& taker() const { return taker_; }

  // Does not wait: the stacks are there in a later look.
  std::optional<StackReading> Fetch(const HostLook& look, absl::Duration,
                                    HostFindings& found) override {
    std::optional<StackReading> reading;
    const bool lives = found.process.has_value() && !found.process->Ended();
    const bool wanted = look.stacks != StackLook::kNone;
    if (wanted && lives) {
      taker_.Start(*found.process, look.stacks);
    } else if (wanted) {
      reading.emplace();  // no stacks are to be waited for
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
  auto fetcher = std::make_unique<StackFetcher>(FindStackTools(options.proc_root, PathVariable()));
  found.process_held_up = [&taker = fetcher->taker()] { return taker.may_hold(); };
  return fetcher;
}

}  // namespace rapideye::agent
