#include "classifier/logs/stack_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

constexpr char kMainThread[] = "MainThread";

re2::StringPiece Text(absl::string_view line) { return {line.data(), line.size()}; }

// "/opt/conda/lib/python3.11/site-packages/jax/_src/array.py" as "jax/_src/array.py", and Python's
// own "/usr/lib/python3.11/threading.py" as "threading.py".
absl::string_view Shortened(absl::string_view file) {
  for (const absl::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != absl::string_view::npos) return file.substr(at + folder.size());
  }
  static const RE2* const kOwn = new RE2("^.*/lib(?:64)?/python3(?:\\.\\d+)?t?/(.+)$");
  re2::StringPiece rest;
  if (RE2::FullMatch(Text(file), *kOwn, &rest)) return {rest.data(), rest.size()};
  return file;
}

void AddFrame(std::string frame, Stack& stack) {
  if (stack.frames.size() >= kMaxLoggedFrames) return;
  if (frame.size() > kMaxLoggedFrameBytes) frame.resize(kMaxLoggedFrameBytes);
  stack.frames.push_back(std::move(frame));
}

// `File "/job/train.py", line 88 in read_shard`; a traceback has a comma before the "in".
std::string PythonFrame(absl::string_view line) {
  static const RE2* const kFrame = new RE2("^File \"([^\"]+)\", line (\\d+),? in (.+)$");
  re2::StringPiece file;
  re2::StringPiece number;
  re2::StringPiece function;
  if (!RE2::FullMatch(Text(line), *kFrame, &file, &number, &function)) return "";
  return absl::StrCat(absl::string_view(function.data(), function.size()), " (",
                      Shortened({file.data(), file.size()}), ":",
                      absl::string_view(number.data(), number.size()), ")");
}

// "read_shard (train.py:88)", or "pthread_cond_timedwait (libc.so.6)" of a native frame.
bool IsPySpyFrame(absl::string_view line) {
  static const RE2* const kFrame =
      new RE2("^\\S.* \\((?:[^()]+:\\d+|[^() ]+\\.so[.0-9]*|python[0-9.t]*)\\)$");
  return RE2::FullMatch(Text(line), *kFrame);
}

bool AnyFrame(const Stack& stack, std::initializer_list<absl::string_view> parts) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](const std::string& frame) {
    return std::any_of(parts.begin(), parts.end(),
                       [&frame](absl::string_view part) { return absl::StrContains(frame, part); });
  });
}

// True for a process that serves the training process or started it: a worker of a loader, a
// worker of a pool, a launcher.
bool IsOfHelper(const Stack& main) {
  return AnyFrame(main, {"torch/utils/data/_utils/worker.py", "worker (multiprocessing/pool.py",
                         "multiprocessing/resource_tracker.py", "multiprocessing/forkserver.py",
                         "_process_worker (concurrent/futures/process.py",
                         "grain/_src/python/grain_pool.py", "joblib/externals/loky",
                         "torch/distributed/elastic/agent/", "join (torch/multiprocessing/spawn.py",
                         "deepspeed/launcher/", "torch/_inductor/compile_worker"});
}

// True for a thread that the program started.
bool IsStarted(const Stack& stack) {
  return !stack.frames.empty() &&
         (absl::StartsWith(stack.frames.back(), "_bootstrap (threading.py") ||
          absl::StartsWith(stack.frames.back(), "_bootstrap_inner ("));
}

}  // namespace

bool StackLines::Take(absl::string_view line, const SaidAt& at) {
  line = absl::StripAsciiWhitespace(line);
  if (TakeProcess(line)) return false;  // a program may say the same of its ranks
  if (TakeHeader(line, at)) return true;
  if (form_ == Form::kNone) return false;
  if (form_ == Form::kTraceback ? TakeTraceback(line) : TakeFrame(line)) return true;
  EndDump();
  return false;
}

// "Process 42: python train.py" begins a dump of py-spy.
bool StackLines::TakeProcess(absl::string_view line) {
  static const RE2* const kProcess = new RE2("^Process (\\d{1,9}): \\S.*$");
  int64_t pid = 0;
  if (!absl::StartsWith(line, "Process ") || !RE2::FullMatch(Text(line), *kProcess, &pid)) {
    return false;
  }
  BeginDump(Form::kPySpy, pid);
  return true;
}

// Takes lines that begin a dump, or the next thread of it.
bool StackLines::TakeHeader(absl::string_view line, const SaidAt& at) {
  if (absl::EndsWith(line, "(most recent call first):")) {
    static const RE2* const kThread = new RE2(
        "^(?:(?:Current thread|Thread) 0x[0-9a-fA-F]+(?: \\[[^\\]]*\\])?|Stack) "
        "\\(most recent call first\\):$");
    if (!RE2::FullMatch(Text(line), *kThread)) return false;
    if (form_ != Form::kFaultHandler) BeginDump(Form::kFaultHandler, 0);
    AddThread("Python thread", at);
    return true;
  }
  static const RE2* const kThread =
      new RE2("^Thread (?:0x[0-9a-fA-F]+|\\d+) \\((?:idle|active)(?:\\+gil)?\\)(?:: \"(.*)\")?$");
  std::string name;
  if (absl::StartsWith(line, "Thread ") && RE2::FullMatch(Text(line), *kThread, &name)) {
    if (form_ != Form::kPySpy) BeginDump(Form::kPySpy, 0);
    AddThread(name.empty() ? "thread" : name.substr(0, kMaxLoggedFrameBytes), at);
    return true;
  }
  if (absl::StartsWith(line, "Exception in thread ") && absl::EndsWith(line, ":")) {
    BeginDump(Form::kTraceback, 0);
    dead_ = {std::string(line.substr(0, kMaxLoggedFrameBytes)), {}};
    return true;
  }
  return false;
}

// Takes the frames of a traceback, the outermost first, and the source that it quotes; the
// exception ends it.
bool StackLines::TakeTraceback(absl::string_view line) {
  if (absl::StartsWith(line, "Traceback (most recent call last)")) return true;
  std::string frame = PythonFrame(line);
  if (frame.empty()) {
    static const RE2* const kException = new RE2("^[A-Za-z_][\\w.]*(?:: .*)?$");
    return !dead_.frames.empty() && !RE2::FullMatch(Text(line), *kException);
  }
  dead_.frames.insert(dead_.frames.begin(), std::move(frame));
  if (dead_.frames.size() > kMaxLoggedFrames) dead_.frames.pop_back();
  return true;
}

bool StackLines::TakeFrame(absl::string_view line) {
  const bool spied = form_ == Form::kPySpy;
  if (dump_.threads.empty()) return spied && absl::StartsWith(line, "Python v");
  if (!spied && (line == "<no Python frame>" || line == "...")) return true;
  std::string frame = !spied ? PythonFrame(line) : IsPySpyFrame(line) ? std::string(line) : "";
  if (frame.empty()) return false;
  AddFrame(std::move(frame), dump_.threads.back());
  return true;
}

void StackLines::BeginDump(Form form, int64_t pid) {
  EndDump();
  form_ = form;
  pid_ = pid;
}

void StackLines::AddThread(std::string name, const SaidAt& at) {
  std::vector<Stack>& threads = dump_.threads;
  if (threads.empty()) dump_.at = at;
  // The main thread comes last by faulthandler, first by py-spy.
  if (threads.size() == kMaxLoggedThreads) {
    threads.erase(form_ == Form::kFaultHandler ? threads.begin() : threads.end() - 1);
  }
  threads.emplace_back().thread = std::move(name);
}

// Keeps the dump if it shows the main thread of a training process.
void StackLines::EndDump() {
  LoggedStacks dump = std::exchange(dump_, {});
  const Form form = std::exchange(form_, Form::kNone);
  std::vector<Stack>& threads = dump.threads;
  if (threads.empty()) return;
  if (form == Form::kFaultHandler && !IsStarted(threads.back())) {
    threads.back().thread = kMainThread;
  }
  const auto main = std::find_if(threads.begin(), threads.end(), [](const Stack& stack) {
    return stack.thread == kMainThread && !stack.frames.empty();
  });
  if (main == threads.end() || IsOfHelper(*main)) return;
  std::rotate(threads.begin(), main, main + 1);
  std::erase_if(threads, [](const Stack& stack) { return stack.frames.empty(); });
  several_ = several_ || (pid_ != 0 && last_pid_ != 0 && pid_ != last_pid_);
  last_pid_ = pid_;
  last_ = std::move(dump);
}

LoggedStacks StackLines::Dump() {
  EndDump();
  return several_ ? LoggedStacks() : std::move(last_);
}

}  // namespace rapideye::logs
