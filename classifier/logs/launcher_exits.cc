#include "classifier/logs/launcher_exits.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "classifier/logs/worker_names.h"

namespace rapideye::logs {
namespace {

constexpr size_t kMaxExits = 256;
constexpr int32_t kSigTerm = 15;
constexpr int32_t kStatusOfSignal = 128;  // a shell adds the signal

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

// By the name of the signal, or the words of Slurm.
std::optional<int32_t> SignalByName(absl::string_view word) {
  struct Name {
    absl::string_view word;
    int32_t signal;
  };
  static constexpr std::array<Name, 13> kNames = {{{"Killed", 9},
                                                   {"Out Of Memory", 9},
                                                   {"Terminated", 15},
                                                   {"Segmentation fault", 11},
                                                   {"Aborted", 6},
                                                   {"Bus error", 7},
                                                   {"SIGKILL", 9},
                                                   {"SIGTERM", 15},
                                                   {"SIGSEGV", 11},
                                                   {"SIGABRT", 6},
                                                   {"SIGBUS", 7},
                                                   {"SIGILL", 4},
                                                   {"SIGFPE", 8}}};
  for (const Name& name : kNames) {
    if (name.word == word) return name.signal;
  }
  return std::nullopt;
}

// A negative status is that of a signal.
TaskExit ExitOf(int32_t task, int32_t status) {
  TaskExit exit{.task = task};
  (status < 0 ? exit.signal : exit.exit_code) = status < 0 ? -status : status;
  return exit;
}

// A wording with the task, and with a number or a name behind it.
struct Wording {
  const char* regex;
  enum { kStatus, kSignal, kNothing } tells;
  bool of_node;
};
constexpr std::array<Wording, 10> kWordings = {{
    {"process rank (\\d{1,6}) with PID \\d+ on node \\S+ exited on signal (\\d{1,3})",
     Wording::kSignal, false},
    {"first noticed rank (\\d{1,6})\\) terminated with signal (\\d{1,3})", Wording::kSignal, false},
    {"^Process (\\d{1,6}) exit with status code (-?\\d{1,3})\\.", Wording::kStatus, false},
    {"ProcessExitedException: process (\\d{1,6}) terminated with exit code (\\d{1,3})",
     Wording::kStatus, true},
    {"ProcessExitedException: process (\\d{1,6}) terminated with signal (SIG[A-Z]+)",
     Wording::kSignal, true},
    // A host before the line tells that there are several.
    {"^\\[.*'--local[_-]rank=(\\d{1,6})'.*\\] exits with return code = (-?\\d{1,3})",
     Wording::kStatus, true},
    {"'--local[_-]rank=(\\d{1,6})'.*\\]' returned non-zero exit status (\\d{1,3})",
     Wording::kStatus, true},
    {"'--local[_-]rank=(\\d{1,6})'.*\\]' died with <Signals\\.(SIG[A-Z]+): ", Wording::kSignal,
     true},
    {"^\\[rank: (\\d{1,6})\\] Child process with PID \\d+ terminated with code (-?\\d{1,3})",
     Wording::kStatus, true},
    {"(?:VllmWorker-|RayWorkerProc rank=\\[?)(\\d{1,6})(\\]?) died unexpectedly", Wording::kNothing,
     false},
}};

std::optional<TaskExit> ExitIn(absl::string_view line) {
  static const RE2* const kAny = new RE2(
      "exited on signal|first noticed rank|exit with status code|ProcessExitedException|"
      "exits with return code|returned non-zero exit|died with <Signals|\\] Child process with|"
      " died unexpectedly");
  if (!RE2::PartialMatch(Piece(line), *kAny)) return std::nullopt;
  static const auto* const kRegexes = [] {
    auto* regexes = new std::array<RE2*, kWordings.size()>();
    for (size_t i = 0; i < kWordings.size(); ++i) (*regexes)[i] = new RE2(kWordings[i].regex);
    return regexes;
  }();
  for (size_t i = 0; i < kWordings.size(); ++i) {
    int32_t task = 0;
    std::string told;
    if (!RE2::PartialMatch(Piece(line), *(*kRegexes)[i], &task, &told)) continue;
    int32_t number = 0;
    const bool is_number = absl::SimpleAtoi(told, &number);
    TaskExit exit{.task = task};
    if (kWordings[i].tells == Wording::kStatus && is_number) exit = ExitOf(task, number);
    if (kWordings[i].tells == Wording::kSignal) {
      exit.signal = is_number ? std::optional(number) : SignalByName(told);
    }
    exit.of_node = kWordings[i].of_node;
    return exit;
  }
  return std::nullopt;
}

}  // namespace

void LauncherExits::Add(TaskExit exit) {
  // Processes that the launcher ends itself have not failed.
  const bool ended = exit.signal == kSigTerm || exit.exit_code == kStatusOfSignal + kSigTerm;
  const bool first =
      std::all_of(exits_.begin(), exits_.end(), [](const TaskExit& told) { return told.by_slurm; });
  if (first && !ended) Keep(exit);
}

void LauncherExits::Keep(TaskExit exit) {
  exit.at = at_;
  exits_.push_back(exit);
}

// "srun: error: node3: task 2: Killed", "srun: error: node3: tasks 4-5,7: Exited with exit code 1".
void LauncherExits::TakeSlurm(absl::string_view line) {
  static const RE2* const kTasks = new RE2(
      "^srun: error: [^:]+: tasks? ([\\d,-]{1,64}): (?:Exited with exit code (\\d{1,9})\\b|(Killed|"
      "Terminated|Segmentation fault|Aborted|Bus error|Out Of Memory))");
  for (const char* words :
       {"Job step aborted", "CANCELLED", "erminating job step", "Terminating"}) {
    aborting_ = aborting_ || absl::StrContains(line, words);
  }
  std::string tasks;
  std::string code;
  std::string word;
  if (aborting_ || !RE2::PartialMatch(Piece(line), *kTasks, &tasks, &code, &word)) return;
  TaskExit exit{.by_slurm = true};
  int32_t number = 0;
  if (absl::SimpleAtoi(code, &number)) exit.exit_code = number;
  exit.signal = SignalByName(word);
  for (const absl::string_view range : absl::StrSplit(tasks, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    int32_t last = 0;
    if (!absl::SimpleAtoi(ends.first, &exit.task) || exit.task < 0) continue;
    if (!absl::SimpleAtoi(ends.second, &last)) last = exit.task;
    last = std::min(last, kMaxWorkerNumber);
    for (; exit.task <= last && exits_.size() < kMaxExits; ++exit.task) Keep(exit);
  }
}

// torchrun's "rank : 2" and "exitcode : -9" of the first observed failure.
void LauncherExits::TakeRootCause(absl::string_view line) {
  static const RE2* const kRank = new RE2("^rank\\s*: (\\d{1,6}) ");
  static const RE2* const kCode = new RE2("^exitcode\\s*: (-?\\d{1,9}) ");
  int32_t number = 0;
  if (RE2::PartialMatch(Piece(line), *kRank, &number)) failed_rank_ = number;
  if (!failed_rank_ || !RE2::PartialMatch(Piece(line), *kCode, &number)) return;
  root_cause_ = false;
  std::erase_if(exits_, [](const TaskExit& told) { return told.of_node; });
  Keep(ExitOf(*failed_rank_, number));
}

// "-- Process 3 terminated with the following error:", behind which a traceback stands.
bool LauncherExits::TakeSpawn(absl::string_view line, absl::FunctionRef<bool()> complains) {
  static const RE2* const kRaised =
      new RE2("^-- Process (\\d{1,6}) terminated with the following error:");
  static const RE2* const kException =
      new RE2("^(?:\\w+\\.)*\\w*(?:Error|Exception|Interrupt|Exit|Failure)(?::|$)");
  int32_t task = 0;
  if (absl::StartsWith(line, "-- Process ") && RE2::PartialMatch(Piece(line), *kRaised, &task)) {
    raised_ = task;
    return true;
  }
  if (!raised_ || !RE2::PartialMatch(Piece(line), *kException)) return false;
  TaskExit exit = ExitOf(*std::exchange(raised_, std::nullopt), 1);
  exit.of_node = true;
  // A victim of another, which failed with it.
  if (!complains()) Add(exit);
  return true;
}

// Open MPI's "Process name: [[62107,1],3]" and "Exit code:    1"; Horovod's "Process name: 3".
bool LauncherExits::TakeName(absl::string_view line) {
  static const RE2* const kName =
      new RE2("^Process name: (?:\\[(?:\\[\\d+,\\d+\\]|[^\\[\\],]+@\\d+),)?(\\d{1,6})\\]?$");
  static const RE2* const kCode = new RE2("^Exit code: +(-?\\d{1,3})$");
  int32_t number = 0;
  if (absl::StartsWith(line, "Process name: ") && RE2::PartialMatch(Piece(line), *kName, &number)) {
    named_ = number;
    return true;
  }
  if (!named_ || !RE2::PartialMatch(Piece(line), *kCode, &number)) return false;
  Add(ExitOf(*std::exchange(named_, std::nullopt), number));
  return true;
}

bool LauncherExits::Take(absl::string_view line, const SaidAt& at,
                         absl::FunctionRef<bool()> complains) {
  // "… api.py:882] failed (exitcode: -9) local_rank: 7 (pid: 115533) of binary: …": torchrun's word
  // on the first failure of its node.
  static const RE2* const kOfNode =
      new RE2("failed \\(exitcode: (-?\\d{1,9})\\) local_rank: (\\d{1,6}) ");
  if (exits_.size() >= kMaxExits) return false;
  at_ = at;
  if (absl::StartsWith(line, "srun:") || absl::StartsWith(line, "slurmstepd:")) {
    TakeSlurm(line);
    return false;
  }
  if (absl::StartsWith(line, "Root Cause (first observed failure)")) root_cause_ = true;
  if (root_cause_) {
    TakeRootCause(line);
    return false;
  }
  int32_t task = 0;
  int32_t status = 0;
  if (absl::StrContains(line, "local_rank: ") &&
      RE2::PartialMatch(Piece(line), *kOfNode, &status, &task)) {
    TaskExit exit = ExitOf(task, status);
    exit.of_node = true;
    Add(exit);
    return false;
  }
  if (TakeSpawn(line, complains) || TakeName(line)) return true;
  const std::optional<TaskExit> exit = ExitIn(line);
  if (exit) Add(*exit);
  return exit.has_value();
}

}  // namespace rapideye::logs
