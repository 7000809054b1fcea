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
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

constexpr absl::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::array<absl::string_view, 2> kChains = {
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:"};
constexpr absl::string_view kBarrier = "Barrier timed out. Id: ";
constexpr absl::string_view kReached = "# of tasks that reached the barrier: ";
constexpr absl::string_view kFirst = "The first task at the barrier: ";
constexpr absl::string_view kNames = "Some timed out task names:";
constexpr absl::string_view kUnhealthy = "tasks are unhealthy (stopped sending heartbeats):";

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "ValueError" of "ValueError: loss is not finite"; empty if the line is none such.
absl::string_view ExceptionClass(absl::string_view line) {
  size_t end = 0;
  while (end < line.size() && (IsWord(line[end]) || line[end] == '.')) ++end;
  const absl::string_view name = line.substr(0, end);
  const absl::string_view rest = line.substr(end);
  if (name.empty() || IsDigit(name.front()) || name.size() > kMaxLogNameBytes) return "";
  if (!rest.empty() && rest != ":" && !absl::StartsWith(rest, ": ")) return "";
  // Classes without a module are named with a capital: "loss: 0.5" is none.
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
         kind == LogKind::kCoordinationTimeout;
}

// A connection that ended, or a wait for others that did.
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

// Raised where a program was told to end, or ends as it means to.
bool EndsOnPurpose(absl::string_view name) {
  return name == "KeyboardInterrupt" || name == "SystemExit";
}

// "2", or "/job:jax_worker/replica:0/task:2".
std::string TaskNumber(absl::string_view line) {
  const size_t task = line.rfind("task:");
  const absl::string_view digits =
      absl::StartsWith(line, "/job:") && task != absl::string_view::npos ? line.substr(task + 5)
                                                                         : line;
  constexpr size_t kMostDigits = 7;
  const bool number = !digits.empty() && digits.size() <= kMostDigits &&
                      std::all_of(digits.begin(), digits.end(), IsDigit);
  return number ? std::string(digits) : "";
}

// What stands behind the marker, up to `end`.
std::optional<std::string> Behind(absl::string_view line, absl::string_view marker,
                                  absl::string_view end) {
  const size_t at = line.find(marker);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = line.substr(at + marker.size());
  const absl::string_view taken = rest.substr(0, rest.find(end));
  return std::string(absl::StripSuffix(taken.substr(0, kMaxLogNameBytes), "."));
}

LogLine Event(LogKind kind, std::string text, const RecogniseOptions& options) {
  LogLine line;
  line.event.kind = kind;
  line.event.source = options.source;
  line.event.text = text.substr(0, kMaxLogTextBytes);
  line.key = absl::StrCat(static_cast<int>(kind), "|", line.event.text);
  return line;
}

}  // namespace

void LogContext::Take(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  const absl::string_view text = absl::StripAsciiWhitespace(line.substr(0, kMaxLogLineBytes));
  if (text == kTraceback) {
    expecting_ = Expecting::kFrames;
    of_victim_ = of_victim_ && chained_;
    chained_ = any_frame_ = of_program_ = false;
    lines_ = 0;
    return;
  }
  if (std::find(kChains.begin(), kChains.end(), text) != kChains.end()) {
    chained_ = true;
    return;
  }
  if (expecting_ == Expecting::kFrames) {
    TakeTracebackLine(line, options, sink);
    return;
  }
  if (TakeListLine(text, options, sink)) return;
  std::optional<LogLine> found = Recognise(line, options);
  if (found.has_value()) sink(*std::move(found));
}

void LogContext::TakeTracebackLine(absl::string_view line, const RecogniseOptions& options,
                                   Sink sink) {
  const absl::string_view text = absl::StripAsciiWhitespace(line.substr(0, kMaxLogLineBytes));
  if (line.front() == ' ' || line.front() == '\t') {
    if (!absl::StartsWith(text, "File \"")) return;
    if (!any_frame_) {
      of_program_ =
          absl::EndsWith(text, ", in <module>") || absl::EndsWith(text, ", in _run_module_as_main");
    }
    // A helper process that Python has started.
    if (absl::EndsWith(text, ", in spawn_main")) of_program_ = false;
    any_frame_ = true;
    return;
  }
  if (any_frame_ && !ExceptionClass(text).empty()) {
    expecting_ = Expecting::kAnything;
    // A barrier whose lists of tasks are the next lines.
    TakeListLine(text, options, sink);
    TakeException(text, options, sink);
    return;
  }
  // Another thread writes in between.
  if (++lines_ > kMaxStrangeTracebackLines) expecting_ = Expecting::kAnything;
  std::optional<LogLine> found = Recognise(line, options);
  if (found.has_value()) sink(*std::move(found));
}

void LogContext::TakeException(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  const absl::string_view name = ExceptionClass(line);
  std::optional<LogLine> found = Recognise(line, options);
  of_victim_ =
      of_victim_ || SaysPeerIsGone(name, line) || (found.has_value() && IsWeak(found->event.kind));
  if (found.has_value()) {
    sink(*std::move(found));
  } else if (of_program_ && !of_victim_ && !EndsOnPurpose(name)) {
    sink(Event(LogKind::kUncaughtException, std::string(line), options));
  }
}

bool LogContext::TakeListLine(absl::string_view line, const RecogniseOptions& options, Sink sink) {
  if (list_ != List::kNone) {
    std::string task = TaskNumber(line);
    if (!task.empty()) {
      if (tasks_.size() < kMaxListedTasks) tasks_.push_back(std::move(task));
      return true;
    }
    EndList(options, sink);
  }
  if (auto id = Behind(line, kBarrier, ". ")) {
    barrier_ = *std::move(id);
    reached_.clear();
    first_.clear();
  }
  if (barrier_.empty()) {
    // No barrier has been told of.
  } else if (auto reached = Behind(line, kReached, " ")) {
    reached_ = *std::move(reached);
  } else if (auto first = Behind(line, kFirst, ". ")) {
    first_ = TaskNumber(*first);
  }
  if (!barrier_.empty() && absl::EndsWith(line, kNames)) {
    list_ = List::kBarrier;
  } else if (absl::EndsWith(line, kUnhealthy)) {
    list_ = List::kUnhealthy;
  }
  return false;
}

void LogContext::EndList(const RecogniseOptions& options, Sink sink) {
  const List ended = std::exchange(list_, List::kNone);
  const std::string names = absl::StrJoin(std::exchange(tasks_, {}), ", ");
  if (names.empty()) return;
  if (ended == List::kUnhealthy) {
    sink(Event(LogKind::kMissedHealthChecks, absl::StrCat("The following ", kUnhealthy, " ", names),
               options));
    return;
  }
  sink(Event(LogKind::kCoordinationTimeout,
             absl::StrCat(kBarrier, std::exchange(barrier_, ""), ". ", kReached, reached_, ". ",
                          kFirst, first_, ". ", kNames, " ", names),
             options));
}

}  // namespace rapideye::logs
