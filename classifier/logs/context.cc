#include "classifier/logs/context.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "classifier/logs/fields.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

constexpr absl::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::array<absl::string_view, 2> kChains = {
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:"};
constexpr absl::string_view kBarrier = "Barrier timed out. Id: ";
// Words of releases before 2024, which name every task that did not come, without a count.
constexpr absl::string_view kOldBarrier = "Barrier timed out. Barrier_id: ";
constexpr absl::string_view kAllNames = "Timed out task names:";
constexpr absl::string_view kReached = "# of tasks that reached the barrier: ";
constexpr absl::string_view kFirst = "The first task at the barrier: ";
constexpr absl::string_view kNames = "Some timed out task names:";
constexpr absl::string_view kUnhealthy = "tasks are unhealthy (stopped sending heartbeats):";
constexpr absl::string_view kStragglers = "Example stragglers:";
constexpr absl::string_view kNotRegistered = "luster registration failed";

bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsSeparator(char c) { return c == ' ' || c == ','; }
bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "ValueError" of "ValueError: loss is not finite"; empty if the line begins with no exception.
absl::string_view ExceptionClass(absl::string_view line) {
  size_t end = 0;
  while (end < line.size() && (IsWord(line[end]) || line[end] == '.')) ++end;
  const absl::string_view name = line.substr(0, end);
  const absl::string_view rest = line.substr(end);
  if (name.empty() || absl::ascii_isdigit(name.front()) || name.size() > kMaxLogNameBytes)
    return "";
  if (!rest.empty() && rest != ":" && !absl::StartsWith(rest, ": ")) return "";
  // A class without a module begins with a capital: "loss: 0.5" is no exception.
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos) return IsUpper(name.front()) ? name : "";
  return dot + 1 < name.size() ? name : "";
}

absl::string_view WithoutModule(absl::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == absl::string_view::npos ? name : name.substr(dot + 1);
}

bool IsWeak(LogKind kind) {
  return kind == LogKind::kFollowOn || kind == LogKind::kMissedHealthChecks ||
         kind == LogKind::kRestartedPeer || kind == LogKind::kCoordinationTimeout ||
         kind == LogKind::kCollectiveStuck || kind == LogKind::kNetwork;
}

// True for a line that gives the reason for a program's end, and is no sign of the end itself.
bool IsReason(LogKind kind) {
  return kind == LogKind::kDeviceUnavailable || kind == LogKind::kProgramRejected ||
         kind == LogKind::kInputWait || kind == LogKind::kDeviceSlow || kind == LogKind::kHungTask;
}

// True if a connection has ended, or a wait for other processes has failed.
bool SaysPeerIsGone(absl::string_view name, absl::string_view line) {
  constexpr std::array<absl::string_view, 4> kConnections = {
      "ConnectionResetError", "ConnectionAbortedError", "ConnectionRefusedError",
      "BrokenPipeError"};
  constexpr std::array<absl::string_view, 4> kOfOthers = {
      "RuntimeError: UNAVAILABLE:", "RuntimeError: DEADLINE_EXCEEDED:", "RuntimeError: ABORTED:",
      "RuntimeError: CANCELLED:"};
  const bool connection = std::find(kConnections.begin(), kConnections.end(),
                                    WithoutModule(name)) != kConnections.end();
  const bool of_runtime =
      WithoutModule(name) == "JaxRuntimeError" || WithoutModule(name) == "XlaRuntimeError";
  return connection ||
         (of_runtime && std::any_of(kOfOthers.begin(), kOfOthers.end(),
                                    [line](auto words) { return absl::StrContains(line, words); }));
}

// True for exceptions that stop a program on purpose.
bool EndsOnPurpose(absl::string_view name) {
  return name == "KeyboardInterrupt" || name == "SystemExit";
}

// The text behind the marker, up to `end`.
std::optional<std::string> Behind(absl::string_view line, absl::string_view marker,
                                  absl::string_view end) {
  const size_t at = line.find(marker);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = line.substr(at + marker.size());
  const absl::string_view taken = rest.substr(0, rest.find(end));
  return std::string(absl::StripSuffix(taken.substr(0, kMaxLogNameBytes), "."));
}

// The length of the common beginning, in which digits may differ (the time).
size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  const auto same = [](char x, char y) {
    return x == y || (absl::ascii_isdigit(x) && absl::ascii_isdigit(y));
  };
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same).first;
  return static_cast<size_t>(end - a.begin());
}

// The line behind a prefix such as "[rank0]: ".
std::optional<absl::string_view> BehindPrefix(absl::string_view line, absl::string_view prefix) {
  return CommonPrefix(prefix, line) == prefix.size() ? std::optional(line.substr(prefix.size()))
                                                     : std::nullopt;
}

LogLine Event(LogKind kind, std::string text, std::vector<int32_t> tasks,
              const RecogniseOptions& options) {
  LogLine line;
  line.event.kind = kind;
  line.event.source = options.source;
  line.event.text = text.substr(0, kMaxLogTextBytes);
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  line.event.peer_tasks = std::move(tasks);
  line.key = absl::StrCat(static_cast<int>(kind), "|", line.event.text);
  return line;
}

}  // namespace

void LogContext::Take(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  line = line.substr(0, kMaxLogLineBytes);
  std::string plain;
  if (absl::StrContains(line, '\x1b')) line = plain = WithoutColours(line);
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (BeginsTraceback(absl::StripTrailingAsciiWhitespace(line))) {
    // "Scheduler hit an exception: Traceback …": the message of whoever handles the exception.
    std::optional<LogLine> found = Recognise(prefix_, options);
    if (found.has_value()) sink(*std::move(found));
    return;
  }
  if (std::any_of(kChains.begin(), kChains.end(),
                  [text](absl::string_view chain) { return absl::EndsWith(text, chain); })) {
    chained_ = true;
    return;
  }
  if (expecting_ == Expecting::kFrames) {
    TakeTracebackLine(line, options, sink);
    return;
  }
  if (TakeListLine(text, options, sink)) return;
  std::optional<LogLine> found = Recognise(line, options);
  if (found.has_value()) {
    sink(*std::move(found));
  } else if (absl::StartsWith(text, "/job:")) {
    // A task's name alone comes from a list whose beginning is lost.
    if (const std::optional<int32_t> task = TaskNumber(text)) {
      sink(Event(LogKind::kMissedHealthChecks, std::string(text), {*task}, options));
    }
  }
}

bool LogContext::BeginsTraceback(absl::string_view line) {
  if (!absl::EndsWith(line, kTraceback)) return false;
  const absl::string_view prefix = absl::StripSuffix(line, kTraceback);
  // A progress bar leaves its line open, and is no prefix of the lines behind it.
  const bool open = !prefix.empty() && absl::StrContains("])|%", prefix.back());
  // A text that is longer, or does not end in a blank, is a sentence and no prefix.
  const bool blank = absl::StripAsciiWhitespace(prefix).empty();
  const bool label = prefix.size() <= kMaxLinePrefixBytes && (blank || prefix.back() == ' ');
  if (!open && !label) return false;
  prefix_ = blank || open ? "" : std::string(prefix);
  expecting_ = Expecting::kFrames;
  of_victim_ = of_victim_ && chained_;
  chained_ = any_frame_ = of_program_ = false;
  lines_ = 0;
  return true;
}

void LogContext::LeaveMessageOut(absl::string_view line) {
  const size_t common = CommonPrefix(prefix_, line);
  if (absl::StartsWith(line.substr(common), "  File \"")) prefix_.resize(common);
}

void LogContext::TakeTracebackLine(absl::string_view whole, const RecogniseOptions& options,
                                   Sink sink) {
  if (!any_frame_) LeaveMessageOut(whole);
  const std::optional<absl::string_view> own = BehindPrefix(whole, prefix_);
  const absl::string_view line = own.value_or("");
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
    if (!absl::StartsWith(text, "File \"")) return;
    if (!any_frame_) {
      of_program_ =
          absl::EndsWith(text, ", in <module>") || absl::EndsWith(text, ", in _run_module_as_main");
    }
    // A frame of a helper process that Python has started.
    if (absl::EndsWith(text, ", in spawn_main")) of_program_ = false;
    any_frame_ = true;
    return;
  }
  if (any_frame_ && !ExceptionClass(text).empty()) {
    expecting_ = Expecting::kAnything;
    // The line may begin a barrier's list of tasks, which the next lines continue.
    TakeListLine(text, options, sink);
    TakeException(text, options, sink);
    return;
  }
  // The line is of another thread, which wrote into the traceback.
  if (++lines_ > kMaxStrangeTracebackLines) expecting_ = Expecting::kAnything;
  std::optional<LogLine> found = Recognise(whole, options);
  if (found.has_value()) sink(*std::move(found));
}

void LogContext::TakeException(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  const absl::string_view name = ExceptionClass(line);
  // A traceback tells better than a family of lines whether an exception is the program's own.
  RecogniseOptions wordings = options;
  wordings.families = false;
  wordings.outcomes = false;
  std::optional<LogLine> found = Recognise(line, wordings);
  of_victim_ =
      of_victim_ || SaysPeerIsGone(name, line) || (found.has_value() && IsWeak(found->event.kind));
  const bool reason = !found.has_value() || IsReason(found->event.kind);
  if (found.has_value()) sink(*std::move(found));
  if (reason && of_program_ && !of_victim_ && !EndsOnPurpose(name)) {
    sink(Event(LogKind::kUncaughtException, std::string(line), {}, options));
  }
}

bool LogContext::TakeListLine(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  if (list_ != List::kNone) {
    if (const std::optional<int32_t> task = ListedTask(line)) {
      AddTask(*task);
      return true;
    }
    EndList(options, sink);
  }
  auto id = Behind(line, kBarrier, ". ");
  if (!id.has_value()) id = Behind(line, kOldBarrier, ". ");
  if (id.has_value()) {
    barrier_ = *std::move(id);
    reached_.clear();
    first_.clear();
  }
  if (barrier_.empty()) {
    // No line has named a barrier yet.
  } else if (auto reached = Behind(line, kReached, " ")) {
    reached_ = *std::move(reached);
  }
  if (auto first = Behind(line, kFirst, ". "); first.has_value() && !barrier_.empty()) {
    const std::optional<int32_t> task = TaskNumber(*first);
    first_ = task.has_value() ? absl::StrCat(*task) : "";
  }
  if (!barrier_.empty() && (BeginsList(line, kNames) || BeginsList(line, kAllNames))) {
    list_ = List::kBarrier;
  } else if (BeginsList(line, kUnhealthy)) {
    list_ = List::kUnhealthy;
  } else if (BeginsList(line, kStragglers)) {
    list_ = List::kStragglers;
  } else if (absl::StrContains(line, kNotRegistered) && !stragglers_.empty()) {
    const std::string names = absl::StrJoin(stragglers_, ", ");
    sink(Event(LogKind::kCoordinationTimeout,
               absl::StrCat(line.substr(0, kMaxLogNameBytes), " Not connected: ", names),
               std::exchange(stragglers_, {}), options));
  }
  return false;
}

// True if the line begins a list. Its names stand on the next lines; names behind the marker on
// the same line come first.
bool LogContext::BeginsList(absl::string_view line, absl::string_view marker) {
  const size_t at = line.find(marker);
  if (at == absl::string_view::npos) return false;
  prefix_ = std::string(line.substr(0, std::min(at, kMaxLinePrefixBytes)));
  absl::string_view rest = line.substr(at + marker.size());
  while (!rest.empty()) {
    // Skips the separators of a record of several lines that was written as one line.
    if (IsSeparator(rest.front()) || absl::StartsWith(rest, "\\n")) {
      rest.remove_prefix(rest.front() == '\\' ? 2 : 1);
      continue;
    }
    const absl::string_view name =
        rest.substr(0, std::min(rest.find_first_of(" ,\\"), rest.size()));
    const std::optional<int32_t> task = TaskNumber(absl::StripSuffix(name, "."));
    if (!task.has_value()) break;
    AddTask(*task);
    rest.remove_prefix(name.size());
  }
  return true;
}

// The task that makes up the whole line, apart from the prefix of the list's first line.
std::optional<int32_t> LogContext::ListedTask(absl::string_view line) const {
  if (const std::optional<int32_t> task = TaskNumber(line)) return task;
  const size_t space = line.rfind(' ');
  if (space == absl::string_view::npos || space + 1 > prefix_.size()) return std::nullopt;
  const auto name = BehindPrefix(line, absl::string_view(prefix_).substr(0, space + 1));
  return name.has_value() ? TaskNumber(*name) : std::nullopt;
}

void LogContext::AddTask(int32_t task) {
  if (tasks_.size() < kMaxListedTasks) tasks_.push_back(task);
}

void LogContext::EndList(const RecogniseOptions& options, Sink sink) {
  const List ended = std::exchange(list_, List::kNone);
  std::vector<int32_t> tasks = std::exchange(tasks_, {});
  if (tasks.empty()) return;
  const std::string names = absl::StrJoin(tasks, ", ");
  if (ended == List::kStragglers) {
    stragglers_ = std::move(tasks);
    return;
  }
  if (ended == List::kUnhealthy) {
    sink(Event(LogKind::kMissedHealthChecks, absl::StrCat("The following ", kUnhealthy, " ", names),
               std::move(tasks), options));
    return;
  }
  std::string text = absl::StrCat(kBarrier, std::exchange(barrier_, ""), ". ");
  if (reached_.empty()) {
    absl::StrAppend(&text, kAllNames, " ", names);
  } else {
    absl::StrAppend(&text, kReached, reached_, ". ", kFirst, first_, ". ", kNames, " ", names);
  }
  sink(Event(LogKind::kCoordinationTimeout, std::move(text), std::move(tasks), options));
}

}  // namespace rapideye::logs
