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
// A heading stands so many lines above the dump that it names.
constexpr int kHeadingLines = 3;
constexpr size_t kMaxHeadingBytes = 160;

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
  if (!absl::StartsWith(line, "File")) return "";
  static const RE2* const kFrame = new RE2("^File:? \"([^\"]+)\", line (\\d+),? in (.+)$");
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

// ">>>   File …": a logger's mark before each line of a stack.
absl::string_view WithoutMark(absl::string_view line) {
  while (absl::ConsumePrefix(&line, ">")) {
  }
  return absl::StripLeadingAsciiWhitespace(line);
}

// Python marks the part of a source line that is meant: "^^^^", "~~~^^^".
bool IsMarker(absl::string_view line) {
  return line.find_first_not_of("^~ ") == absl::string_view::npos;
}

bool SpeaksOfThread(absl::string_view line) {
  return line.size() < kMaxLogNameBytes && absl::StrContains(absl::AsciiStrToLower(line), "thread");
}

// "Thread: MainThread(140)", "# Thread 0x7f12", "-- Stack of thread 140": no line of a program.
bool NamesThread(absl::string_view line) {
  static const RE2* const kNamed =
      new RE2("(?i)^[^\\w]*(?:stack )?(?:of |for )?threads?\\b[ :#].*");
  return RE2::FullMatch(Text(line), *kNamed);
}

// The thread in which Python runs the program's file.
bool IsRoot(absl::string_view frame) {
  return absl::StartsWith(frame, "<module> (") ||
         absl::StartsWith(frame, "_run_module_as_main (") || absl::StartsWith(frame, "_run_code (");
}

// True for a thread that the program started.
bool IsStarted(const Stack& stack) {
  return !stack.frames.empty() &&
         (absl::StartsWith(stack.frames.back(), "_bootstrap (threading.py") ||
          absl::StartsWith(stack.frames.back(), "_bootstrap_inner ("));
}

}  // namespace

bool StackLines::Take(absl::string_view line, const SaidAt& at) {
  line = WithoutMark(absl::StripAsciiWhitespace(line));
  if (TakeProcess(line)) return false;  // a program may say the same of its ranks
  if (TakeHeader(line, at)) return true;
  if (TakeFormatted(line, at)) return true;
  const bool taken = form_ == Form::kTraceback ? TakeTraceback(line) : TakeFrame(line);
  if (taken) return true;
  EndDump();
  TakeHeading(line);
  return false;
}

// True if the line belongs to the frame above: its source, or the markers below that.
bool StackLines::Quotes(absl::string_view line) {
  if (IsMarker(line)) return quoted_ != Quoted::kNothing;
  const bool quotes = quoted_ == Quoted::kSource && !NamesThread(line);
  quoted_ = quotes ? Quoted::kMarkers : Quoted::kNothing;
  return quotes;
}

// Takes a line of traceback.format_stack, the outermost frame first, below a line that speaks of
// its thread.
bool StackLines::TakeFormatted(absl::string_view line, const SaidAt& at) {
  std::string frame = absl::StrContains(line, ", in ") ? PythonFrame(line) : "";
  if (frame.empty()) {
    const bool quotes = Quotes(line);
    if (quotes) return form_ == Form::kFormatted;
    in_traceback_ = absl::EndsWith(line, "(most recent call last):");
    above_.assign(line.data(), std::min(line.size(), kMaxLogNameBytes));
    return form_ == Form::kFormatted && SpeaksOfThread(line);
  }
  quoted_ = Quoted::kSource;
  if (in_traceback_ || form_ == Form::kTraceback) return false;
  if (!above_.empty()) {
    if (!SpeaksOfThread(above_)) return false;
    if (form_ != Form::kFormatted) BeginDump(Form::kFormatted, 0);
    const bool main = absl::StrContains(above_, kMainThread) || IsRoot(frame);
    AddThread(main ? kMainThread : "Python thread", at);
    above_.clear();
  }
  if (form_ != Form::kFormatted) return false;
  std::vector<std::string>& frames = dump_.threads.back().frames;
  if (frame.size() > kMaxLoggedFrameBytes) frame.resize(kMaxLoggedFrameBytes);
  frames.insert(frames.begin(), std::move(frame));
  if (frames.size() > kMaxLoggedFrames) frames.pop_back();
  return true;
}

// Keeps a line that numbers a worker for the dump below it: "=== rank 3 ===", "node7:",
// "==> logs/worker-2.txt <==", "$ kubectl exec train-slice-0-3 -- py-spy dump --pid 1", "The stack
// of rank 3:".
void StackLines::TakeHeading(absl::string_view line) {
  if (heading_lines_ > 0) --heading_lines_;
  constexpr absl::string_view kBegins = "=#*+-$grwhnptGRWHNPT";
  if (line.empty() || line.size() > kMaxHeadingBytes) return;
  if (line.back() != ':' && !absl::StrContains(kBegins, line.front())) return;
  static const RE2* const kName = new RE2(
      "(?i)^(?:rank|worker|host|node|process|task|replica)[ _=:#-]*\\d+(?:\\s*\\(.*\\))?\\s*:?$");
  static const RE2* const kMarked = new RE2(
      "(?i)^(?:[=#*+-]{2,}|\\$ ).*"
      "\\b(?:rank|worker|host|node|pod|process|task|replica|slice|w)[ _=:#-]*\\d|"
      "^==> .*\\d.* <==$");
  static const RE2* const kSentence = new RE2(
      "(?i)^[a-z' ]{0,40}\\b(?:rank|worker|host|node|process|task|replica)[ _=:#-]*\\d+"
      "[a-z' ]{0,40}:$");
  const auto is = [&line](const RE2& form) { return RE2::PartialMatch(Text(line), form); };
  if (!is(*kName) && !is(*kMarked) && !is(*kSentence)) return;
  heading_ = std::string(line);
  heading_lines_ = kHeadingLines;
}

// "Process 42: python train.py" begins a dump of py-spy.
bool StackLines::TakeProcess(absl::string_view line) {
  static const RE2* const kProcess = new RE2("^Process (\\d{1,9}): (\\S.*)$");
  int64_t pid = 0;
  std::string command;
  if (!absl::StartsWith(line, "Process ") ||
      !RE2::FullMatch(Text(line), *kProcess, &pid, &command)) {
    return false;
  }
  BeginDump(Form::kPySpy, pid);
  static const RE2* const kRank = new RE2(
      "[ -](?:process[_-](?:id|index)|(?:local[_-])?rank|(?:task|worker)[_-]id)[ =](\\d{1,6})\\b");
  int32_t rank = 0;
  if (RE2::PartialMatch(command, *kRank, &rank)) dump_.rank = rank;
  dump_.command = command.substr(0, kMaxLogNameBytes);
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
      new RE2("^Thread (0x[0-9a-fA-F]+|\\d+) \\((?:idle|active)(?:\\+gil)?\\)(?:: \"(.*)\")?$");
  std::string number;
  std::string name;
  if (absl::StartsWith(line, "Thread ") && RE2::FullMatch(Text(line), *kThread, &number, &name)) {
    if (form_ != Form::kPySpy) BeginDump(Form::kPySpy, 0);
    if (name.empty() && dump_.pid != 0 && number == absl::StrCat(dump_.pid)) name = kMainThread;
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
  if (form_ != Form::kPySpy && form_ != Form::kFaultHandler) return false;
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
  dump_.pid = pid;
  if (std::exchange(heading_lines_, 0) == 0) return;
  // The number of a process is not that of its worker.
  std::string heading = std::exchange(heading_, "");
  static const RE2* const kPid = new RE2("(?i)\\bpid[ =:#-]*\\d+");
  RE2::GlobalReplace(&heading, *kPid, "");
  if (pid != 0) RE2::GlobalReplace(&heading, absl::StrCat("\\b", pid, "\\b"), "");
  const bool numbers = std::any_of(heading.begin(), heading.end(),
                                   [](unsigned char c) { return absl::ascii_isdigit(c); });
  if (numbers) dump_.heading = std::move(heading);
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
  KeepDump(std::move(dump));
}

// A later dump of a process takes the place of the one before; so does a dump that tells no
// process, where no more than one is known.
void StackLines::KeepDump(LoggedStacks dump) {
  const auto told = [](const LoggedStacks& one) { return one.pid != 0 || !one.heading.empty(); };
  const auto same = std::find_if(dumps_.begin(), dumps_.end(), [&](const LoggedStacks& one) {
    if (!one.heading.empty() && !dump.heading.empty()) return one.heading == dump.heading;
    if (one.pid != 0 && dump.pid != 0) return one.pid == dump.pid;
    return !told(one) || !told(dump);
  });
  if (same == dumps_.end()) {
    if (dumps_.size() < kMaxLoggedProcesses) dumps_.push_back(std::move(dump));
  } else if (told(dump) || dumps_.size() == 1) {
    *same = std::move(dump);
  }
}

std::vector<LoggedStacks> StackLines::Dumps() {
  EndDump();
  return std::exchange(dumps_, {});
}

}  // namespace rapideye::logs
